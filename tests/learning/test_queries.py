"""Learned queries: formulas, attributes in three languages, slots, the search, and the artefact."""

import json
import random
import re
import sqlite3
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from published import published

from planweave import BadInput
from planweave.learning.queries import memory
from planweave.learning.queries.attributes import Attributes
from planweave.learning.queries.course import Course, CourseMaterial, Learner
from planweave.learning.queries.formulas import Formula, cross, vary
from planweave.learning.queries.questions import Questions, Worlds, attributes_of
from planweave.learning.queries.rankings import LearnedRanking
from planweave.learning.queries.search import RankingSettings, Search
from planweave.learning.queries.slots import (
    Place,
    fill_slots,
    find_named,
    find_phrases,
    find_slots,
    select_safe,
)
from planweave.simulators.published import load_dataset
from planweave.simulators.registry import scenario
from planweave.simulators.scenario import Question
from planweave.tools import Limits, open_database
from planweave.tools.database import Database

ROOT = Path(__file__).parents[2]
SMALL = RankingSettings(generations=6, population=30, proposals=80, batch=40, promoted=10)
SEARCHED = ("locating", "building")


def asked(name: str, number: int = 6, size: int = 80) -> list[Question]:
    found = scenario(name)
    return [found.ask(found.generate(seed, size), seed) for seed in range(1, number + 1)]


def a_formula(rng: random.Random, names: list[str]) -> Formula:
    formula = Formula(rng.choice(names))
    for _ in range(rng.randint(0, 6)):
        formula = vary(formula, [*names, "2", "0.75"], rng)
    return cross(formula, Formula(rng.choice(names)), rng)


def test_a_formula_means_the_same_in_sql() -> None:
    rng = random.Random(2)
    rows = [(rng.choice((0, 1, 2.5)), rng.randint(-3, 3)) for _ in range(6)]
    columns = {n: np.array([row[i] for row in rows], float) for i, n in enumerate("ab")}
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t(a REAL, b INTEGER)")
    database.executemany("INSERT INTO t VALUES (?, ?)", rows)
    for _ in range(60):
        formula = a_formula(rng, ["a", "b"])
        found = database.execute(f"SELECT {formula.expression()} FROM t").fetchall()
        said = np.broadcast_to(formula.evaluate(columns), (6,))
        assert [value for (value,) in found] == pytest.approx(said.tolist())


@pytest.fixture(params=SEARCHED)
def world(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[list[Question], Attributes, dict[str, Database]]]:
    questions = asked(request.param)
    assert questions[0].database
    scripts = {"sql": questions[0].database.sql, "cql": questions[0].database.cypher}
    opened = {}
    for kind, script in scripts.items():
        (tmp_path / f"w.{kind}").write_text(script)
        opened[kind] = open_database(str(tmp_path / f"w.{kind}"))
    yield questions, attributes_of(questions), opened
    for database in opened.values():
        database.close()


def fill(query: str, question: Question, *, escape: str) -> str:
    values = {}
    for place in find_slots(query):
        known = [str(value) for value in question.parameters.values()]
        table = next(
            (t for t in question.world if t.name == place.owner and place.column in t.names), None
        )
        if table is None:  # a label: the table has the name in another case or column
            node = question.scenario.graph.node(place.owner)
            column = next(
                c for c in question.world[node.table].names if node.property(c) == place.column
            )
            table, place_column = question.world[node.table], column
        else:
            place_column = place.column
        values[place] = next(v for v in known if v in table.values(place_column))
    return fill_slots(query, values, escape=escape)


def test_attributes_and_rankings_mean_the_same_in_all_languages(
    world: tuple[list[Question], Attributes, dict[str, Database]],
) -> None:
    questions, attributes, opened = world
    table = Questions.of(questions[:1], attributes, "printed")
    decisions = [str(one) for one in questions[0].simulate(semantics="printed").candidates]
    for name in attributes.known:
        for formula in (Formula(name), Formula("-", (Formula("0"), Formula(name)))):
            ranking = LearnedRanking(formula)
            best = float(table.scores(ranking).max())
            sql = fill(ranking.sql(attributes), questions[0], escape="'")
            cypher = fill(ranking.cypher(attributes), questions[0], escape="\\")
            for kind, text in (("sql", sql), ("cql", cypher)):
                ((decision, score),) = opened[kind].run(text, Limits(rows=5)).rows
                assert score == pytest.approx(best), (name, kind)
                place = decisions.index(str(decision))
                assert table.scores(ranking)[place] == pytest.approx(best)


def test_a_preference_goes_before_the_formula_and_yields_where_nobody_has_it() -> None:
    columns = {"a": np.array([1.0, 5, 2, 4, 3]), "p": np.array([1.0, 0, 1, 0, 0])}
    right = np.array([False, False, True, True, False])
    table = Questions(columns, np.array([0, 3]), right, right.astype(float))
    assert table.decide(LearnedRanking(Formula("a"), ("p",))).tolist() == [2, 3]
    assert table.decide(LearnedRanking(Formula("a"))).tolist() == [1, 3]
    assert table.within(["p"]).right.tolist() == [False, True, True, False]
    assert table.chosen([1, 0]).columns["a"].tolist() == [4, 3, 1, 5, 2]


def test_slots_are_found_by_the_questions_alone() -> None:
    locating, building = (attributes_of(asked(name)) for name in SEARCHED)
    slots = [(slot.label, slot.column) for slot in locating.slots]
    assert slots == [("Trade_node", "trade_node"), ("Country", "country_name")]
    assert locating.excluded == locating.slots[0]  # the home is no candidate
    assert [slot.column for slot in building.slots] == ["goods_name"]
    assert building.excluded is None
    first, *_, last = asked("building")
    vague = replace(last, text="Which?", goal="")
    with pytest.raises(BadInput, match=r"building-6 names no single goods_name"):
        Questions.of([first, vague], attributes_of([first]), "printed")


def test_a_name_is_found_only_if_there_is_one() -> None:
    question = 'You rule "ASH". Iron ore from new york or Iron?'
    assert find_named(question, ["ASH", "Iron"]) == "ASH"  # what is quoted goes first
    assert find_named(question, ["Iron ore", "ore"]) == "Iron ore"
    assert find_named(question, ["new york", "Iron"]) is None  # two
    assert find_named(question, ["rul", "york or I"]) is None  # parts of words
    assert "new york" in find_phrases(question)


def test_a_hostile_name_stays_text(tmp_path: Path) -> None:
    name = "O'x' OR 1=1 --"
    sql = "CREATE TABLE t(n TEXT, v INT);\nINSERT INTO t VALUES ('O''x'' OR 1=1 --', 1), ('b', 2);"
    cypher = f'CREATE (:T {{n: "{name}", v: 1}});\nCREATE (:T {{n: "b", v: 2}});'
    for file, script, query, owner, escape in (
        ("w.sql", sql, "SELECT v FROM t WHERE n = {{t.n}}", "t", "'"),
        ("w.cql", cypher, "MATCH (t:T {n: {{T.n}}}) RETURN t.v", "T", "\\"),
    ):
        (tmp_path / file).write_text(script)
        filled = fill_slots(query, {Place(owner, "n"): name}, escape=escape)
        assert open_database(str(tmp_path / file)).run(filled).rows == ((1,),)


def test_what_a_dialect_could_read_as_an_escape_fills_no_slot() -> None:
    hostile = ["a\\' OR 1=1 --", "a\nb", "a\0", "a\u202eb", "\x1b[2J"]
    assert select_safe([*hostile, "Bonn", "O'Hara", "Köln"]) == ["Bonn", "O'Hara", "Köln"]


@cache
def course(name: str) -> CourseMaterial:
    worlds = Worlds(scenario=scenario(name), smallest=60, largest=120)
    return CourseMaterial(Course(worlds=worlds, lessons=120, trial=60, unseen=60))


@pytest.mark.parametrize("name", SEARCHED)
def test_more_is_decided_rightly_the_more_was_answered(name: str) -> None:
    material = course(name)
    learner = Learner(material, SMALL)
    points = list(learner.learn())
    assert [point.generation for point in points] == list(range(7))
    assert points[-1].lessons > points[0].lessons
    assert all(one.answered < two.answered for one, two in pairwise(points))
    assert list(Learner(material, SMALL).learn()) == points  # the same course learns the same
    found = learner.learned()
    assert found.unseen == material.unseen.share(found.ranking)
    steps = [memory.parse_instruction(step) for step in found.paths[0].instructions]
    assert [step and step[0] for step in steps] == ["sql", "finish"]
    assert found.paths[1].instructions[1] == memory.FINISH


def test_nothing_is_learned_without_lessons_or_right_decisions() -> None:
    material = copy(course("building"))
    with pytest.raises(BadInput, match="Nothing was learned"):
        Learner(material, SMALL).learned()
    learner = Learner(material, replace(SMALL, generations=1))
    list(learner.learn())
    trial = material.trial
    material.__dict__["trial"] = replace(trial, right=np.zeros_like(trial.right))
    with pytest.raises(BadInput, match="none of the trial questions"):
        learner.learned()


def test_one_number_is_enough_and_none_is_too_few() -> None:
    def search(*values: float) -> Search:
        right = np.array([False, True] * 2)  # of two questions the second candidate
        given = Questions({"p": np.array(values)}, np.array([0, 2]), right, right.astype(float))
        return Search(given, "", SMALL)

    first = next(search(0.0, 1.0, 0.0, 2.0).generations())
    assert first.population[0].preferred == ("p",)
    with pytest.raises(BadInput, match="No number in the databases"):
        search(1.0, 1.0, 1.0, 1.0)


def test_proposals_with_unknown_names_are_left_out() -> None:
    names = ("supply_goods_current_output", "supply_goods_level")
    good, bad = Formula("/", tuple(map(Formula, names))), Formula("nowhere")
    search = Search(course("building").lessons, "", SMALL, [good, bad])
    formulas = [ranking.formula for ranking in next(search.generations()).population]
    assert good in formulas
    assert bad not in formulas


ORIGIN = re.compile(r"generated: (\w+), seed (\d+), size (\d+), (annotation|printed) semantics")


def test_every_shipped_path_comes_from_a_generated_question() -> None:
    paths = memory.load_learned(memory.SHIPPED)
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
    for path in memory.load_learned(memory.SHIPPED):
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
    paths = memory.load_learned(memory.SHIPPED)
    goods = "Which building should be raised by 5 levels so that the market price of wine falls?"
    found = memory.find_fitting(paths, goods, ["sql"])
    assert found
    assert {path.task for path in found} == {"building"}
    assert all(path.instructions[0].startswith("sql[") for path in found)
    assert memory.find_fitting(paths, goods, ["documents"]) == []
    assert memory.find_fitting(paths, "How many trade nodes are there?", ["sql", "cypher"]) == []
