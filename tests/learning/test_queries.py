"""Learned queries: their slots, those that ship, and which question they are for."""

import json
import re
from pathlib import Path

from published import published

from planweave.learning.paths import read_paths
from planweave.learning.queries import memory
from planweave.learning.queries.memory import SHIPPED, fitting, learned
from planweave.learning.queries.slots import Place, filled, named, phrases, safe
from planweave.simulators.published import load_dataset
from planweave.simulators.registry import scenario
from planweave.tools import open_database

ROOT = Path(__file__).parents[2]
SEARCHED = ("locating", "building")


def test_a_name_is_found_only_if_there_is_one() -> None:
    question = 'You rule "ASH". Iron ore from new york or Iron?'
    assert named(question, ["ASH", "Iron"]) == "ASH"  # what is quoted goes first
    assert named(question, ["Iron ore", "ore"]) == "Iron ore"
    assert named(question, ["new york", "Iron"]) is None  # two
    assert named(question, ["rul", "york or I"]) is None  # parts of words
    assert "new york" in phrases(question)


def test_a_hostile_name_stays_text(tmp_path: Path) -> None:
    name = "O'x' OR 1=1 --"
    (tmp_path / "w.sql").write_text(
        "CREATE TABLE t(n TEXT, v INTEGER);\n"
        "INSERT INTO t VALUES ('O''x'' OR 1=1 --', 1);\nINSERT INTO t VALUES ('b', 2);\n"
    )
    (tmp_path / "w.cql").write_text(
        f'CREATE (:T {{n: "{name}", v: 1}});\nCREATE (:T {{n: "b", v: 2}});\n'
    )
    sql = filled("SELECT v FROM t WHERE n = {{t.n}}", {Place("t", "n"): name}, escape="'")
    cypher = filled("MATCH (t:T {n: {{T.n}}}) RETURN t.v", {Place("T", "n"): name}, escape="\\")
    for file, query in (("w.sql", sql), ("w.cql", cypher)):
        assert open_database(str(tmp_path / file)).run(query).rows == ((1,),)


def test_what_a_dialect_could_read_as_an_escape_fills_no_slot() -> None:
    hostile = ["a\\' OR 1=1 --", "a\nb", "a\0", "a\u202eb", "\x1b[2J"]
    assert safe([*hostile, "Bonn", "O'Hara", "Köln"]) == ["Bonn", "O'Hara", "Köln"]


ORIGIN = re.compile(r"generated: (\w+), seed (\d+), size (\d+), (annotation|printed) semantics")


def test_every_shipped_path_comes_from_a_generated_question() -> None:
    paths = learned(SHIPPED)
    assert {path.task for path in paths} == set(SEARCHED)
    for origin, question in {(path.origin, path.question) for path in paths}:
        match = ORIGIN.fullmatch(origin)
        assert match
        name, seed, size = match[1], int(match[2]), int(match[3])
        made = scenario(name)
        assert made.ask(made.generate(seed, size), seed).prompt == question


def test_nothing_published_is_in_what_ships() -> None:
    questions = load_dataset(published("dqa/dqa-dev.tar.xz")).questions
    prompts = {" ".join(question.prompt.split()) for question in questions}
    names: set[str] = set()
    for question in questions:
        for table in question.world:
            rows = (value for row in table.rows for value in row)
            names.update(value for value in rows if isinstance(value, str) and len(value) > 3)
    words = set(scenario("locating").question.lower().split())
    for path in learned(SHIPPED):
        assert " ".join(path.question.split()) not in prompts
        said = set(re.findall(r"\w+", " ".join([path.question, *path.instructions])))
        own = {"building", "goods", "level", *words}
        assert not (names & said) - own


def test_the_card_tells_how_it_was_learned() -> None:
    card = json.loads((ROOT / "learning/artefacts/dqa-experience.json").read_text())
    assert card["command"].startswith("planweave learn dqa")
    for one in card["courses"]:
        lessons, trial, unseen = (one["world_seeds"][k] for k in ("lessons", "trial", "unseen"))
        assert lessons[1] < trial[0] <= trial[1] < unseen[0]
        assert one["interval_unseen"][0] < one["right_unseen"] < one["interval_unseen"][1]


def test_a_path_is_for_questions_like_its_own() -> None:
    paths = learned(SHIPPED)
    goods = (
        "Which building id should we increase a level by 5 to decrease the market price of wine?"
    )
    found = fitting(paths, goods, ["sql"])
    assert found
    assert {path.task for path in found} == {"building"}
    assert all(path.instructions[0].startswith("sql[") for path in found)
    assert fitting(paths, goods, ["documents"]) == []
    assert fitting(paths, "How many trade nodes are there?", ["sql", "cypher"]) == []


def test_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(
        json.dumps({"question": "Which?", "steps": [{"action": "finish[decision]"}]}) + "\n"
    )
    assert [path.question for path in memory.learned(str(file))] == ["Which?"]
    assert len(read_paths(file)) == 1
