"""text2sql and text2cypher: question files, solvers, scores, the commands."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from bench_command import Page, bench, printed
from cases import cases
from json_lines import write_lines
from langchain_core.messages import BaseMessage
from published import published
from speaking import speaks

from planweave import BadInput
from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.core.store import read
from planweave.benchmarks.suites.query_writing.plain import query_in
from planweave.benchmarks.suites.query_writing.question import QueryQuestion, load
from planweave.benchmarks.suites.query_writing.shown import LEFT, rows_verdict
from planweave.benchmarks.suites.query_writing.solver import SOLVERS, QueryTask, Solved
from planweave.benchmarks.suites.query_writing.trial import run_query, score_outcome
from planweave.memory import Context

SCHEMA = """
CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT /* as on the sign */, opened DATE);
INSERT INTO shop VALUES (1, 'North', '2024-06-18'), (2, 'South', '2023-01-01');
"""
GRAPH = "CREATE (:Person {name: 'Ann', born: 1980});CREATE (:Person {name: 'Bob', born: 1990});"
SAID = "'I''m sorry, there is no such data.'"
SORRY = f"SELECT {SAID} AS answer;"
LINES: list[dict[str, object]] = [
    {
        "id": "names",
        "set": "basic",
        "database": "shop",
        "category": "list",
        "question": "Which shops are there, newest first?",
        "golds": ["SELECT name FROM shop ORDER BY opened DESC", "SELECT id FROM shop"],
        "answers": [[["North"], ["South"]], [[1], [2]]],
        "ordered": [True, False],
        "ties": [None, None],
    },
    {
        "id": "new",
        "set": "gen",
        "database": "shop",
        "category": "date",
        "question": "How many shops opened in the last week?",
        "instructions": "A week is seven days.",
        "now": "2024-06-19 12:00:00",
        "golds": ["SELECT count(*) FROM shop WHERE opened > '2024-06-12'"],
        "answers": [[[1]]],
        "ordered": [False],
        "ties": [None],
    },
    {
        "id": "first",
        "set": "gen",
        "database": "shop",
        "category": "date",
        "question": "Name one shop.",
        "golds": ["SELECT name FROM shop LIMIT 1"],
        "answers": [[["North"]]],
        "ordered": [True],
        "ties": ["cut"],
    },
]
UNANSWERABLE = {
    "id": "weather",
    "database": "shop",
    "category": "cat_a",
    "question": "Does it rain?",
    "instructions": "Else return 'I''m sorry, there is no such data.'",
    "gold": SORRY,
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "text2sql"
    (folder / "databases").mkdir(parents=True)
    (folder / "databases" / "shop.sql").write_text(SCHEMA, encoding="utf-8")
    (folder / "databases" / "shop.glossary.txt").write_text("NORTH = cold", encoding="utf-8")
    write_lines(folder / "questions.jsonl.gz", *LINES)
    write_lines(folder / "unanswerable.jsonl", UNANSWERABLE)
    return folder


def test_a_published_folder(data: Path) -> None:
    questions = load(data)
    assert [q.id for q in questions] == ["names", "new", "first", "weather"]
    assert [q.id for q in load(data, "unanswerable")] == ["weather"]
    names, new, first, weather = questions
    assert (names.group, names.category, names.notes) == ("basic", "list", "NORTH = cold")
    assert [(r.ordered, r.ties) for r in names.readings] == [(True, None), (False, None)]
    assert (new.now, new.instructions) == ("2024-06-19 12:00:00", "A week is seven days.")
    assert not first.decides
    assert weather.refusal == "I'm sorry, there is no such data."
    assert not weather.answerable


def test_the_plain_layout_of_other_sets(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere" / "shop"
    folder.mkdir(parents=True)
    (folder / "shop.sql").write_text(SCHEMA, encoding="utf-8")
    file = tmp_path / "dev.jsonl"
    named = "SELECT name FROM shop ORDER BY name"
    count = {"db_id": "shop", "question": "How many?", "SQL": "SELECT count(*) FROM shop"}
    lines = [
        {"db_id": "shop", "question": "Which?", "query": named, "set": None, "now": None},
        {"id": 7, **count},
    ]
    write_lines(file, *lines)
    which, many = load(file, databases=tmp_path / "elsewhere")
    assert (which.id, which.readings[0].ordered) == ("dev-1", True)
    assert which.readings[0].rows == (("North",), ("South",))
    assert (many.id, many.instructions, which.group) == ("7", "", "questions")
    assert (many.readings[0].rows, many.readings[0].ordered) == (((2,),), False)


@cases(
    ({"database": "none"}, r"no database 'none'"),
    ({"golds": []}, r"names has no gold query"),
    ({"ordered": [True]}, r"2 golds, 2 answers, 1 marks"),
    ({"answers": None, "golds": ["SELECT nothing"]}, r"names does not run"),
    ({"question": None}, r"question"),
    ({"ordered": None, "golds": ["SELECT (", "SELECT 1"]}, r"names cannot be parsed"),
)
def test_invalid_lines(change: dict[str, object], message: str, data: Path) -> None:
    write_lines(data / "questions.jsonl", LINES[0] | {"ties": []})
    assert load(data, "answerable")[0].readings[0].ties is None
    write_lines(data / "questions.jsonl", LINES[0] | change)
    with pytest.raises(BadInput, match=message):
        load(data, "answerable")


def test_an_unreadable_glossary_is_an_error(data: Path) -> None:
    (data / "databases" / "shop.glossary.txt").write_bytes(b"\xff")
    with pytest.raises(BadInput, match="not UTF-8"):
        load(data)


def result_of(question: QueryQuestion, solved: Solved) -> tuple[str, float]:
    score = score_outcome(question, run_query(solved, question.source, Context()))
    return str(score.details["result"]), score.value


@cases(
    (Solved(query="SELECT id, name FROM shop ORDER BY opened DESC"), ("right", 1.0)),
    (Solved(query="SELECT name FROM shop ORDER BY opened"), ("wrong", 0.0)),
    (Solved(query="SELECT id FROM shop ORDER BY id DESC"), ("right", 1.0)),
    (Solved(query="SELECT nmae FROM shop"), ("failed", 0.0)),
    (Solved(query="DROP TABLE shop"), ("failed", 0.0)),
    (Solved(query="SELECT 1 WHERE 0"), ("wrong", 0.0)),
    (Solved(query=None), ("refused", 0.0)),
    (Solved(query="SELECT id FROM shop", refused=True), ("refused", 0.0)),
)
def test_answerable_questions(solved: Solved, result: tuple[str, float], data: Path) -> None:
    assert result_of(load(data)[0], solved) == result
    crashed = score_outcome(load(data)[0], None)
    assert (crashed.value, crashed.details["result"]) == (0.0, "failed")


@cases(
    (Solved(query=SORRY), ("refused", 1.0)),
    (Solved(query="SELECT 'I am sorry; there is no such data'"), ("refused", 1.0)),
    (Solved(query=None, refused=True), ("refused", 1.0)),
    (Solved(query="SELECT 'Yes, it rains.'"), ("answered", 0.0)),
    (Solved(query="SELECT name FROM shop"), ("answered", 0.0)),
    (Solved(query="SELECT name FROM shop WHERE id = 9"), ("empty", 0.0)),
    (Solved(query="SELECT max(id) FROM shop WHERE id = 9"), ("empty", 0.0)),
    (Solved(query="SELECT rain FROM shop"), ("failed", 0.0)),
    # a refusal is only the sentence
    (Solved(query=f"SELECT {SAID}, 1"), ("answered", 0.0)),
    (Solved(query=f"SELECT {SAID} UNION ALL SELECT {SAID}"), ("answered", 0.0)),
    (Solved(query="SELECT 5"), ("answered", 0.0)),
)
def test_unanswerable_questions(solved: Solved, result: tuple[str, float], data: Path) -> None:
    assert result_of(load(data, "unanswerable")[0], solved) == result


@cases(
    ("Which shops are there?", "SELECT name FROM shop", 1.0, "supported"),
    ("Which shops are there?", "SELECT name FROM shop", 0.5, "unsure"),
    ("How many shops are there?", "SELECT name FROM shop", 1.0, "unsure"),
    ("Is there a shop?", "SELECT name FROM shop", 1.0, LEFT),
    ("Which shops are there?", "SELECT rain FROM shop", 1.0, None),
)
def test_the_verdict_on_rows(
    question: str, query: str, agreement: float, expected: str | None, data: Path
) -> None:
    asked = load(data)[0].model_copy(update={"question": question})
    outcome = run_query(Solved(query=query, confidence=agreement), asked.source, Context())
    assert rows_verdict(asked, outcome, Context()) == expected


@cases(
    ("SELECT 1", "SELECT 1"),
    ("Here:\n```sql\nSELECT 1;\n```\nIt selects.", "SELECT 1"),
    ("```\nMATCH (n) RETURN n", "MATCH (n) RETURN n"),
    ("The query is:\n\nWITH a AS (SELECT 1) SELECT * FROM a; It works.", None),
    ("I cannot.", "I cannot."),
)
def test_the_query_in_a_reply(reply: str, query: str | None) -> None:
    assert query_in(reply) == (query or "WITH a AS (SELECT 1) SELECT * FROM a")


class Writer:
    """A model that misspells its first query about names; the prompts are kept."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, messages: Sequence[BaseMessage]) -> str:
        text = "\n---\n".join(message.text for message in messages)
        self.prompts.append(text)
        if "rain" in text:
            return SORRY
        if "last week" in text:
            return "SELECT count(*) FROM shop WHERE opened > '2024-06-12'"
        return "SELECT name FROM shop" if "The query fails" in text else "SELECT nmae FROM shop"


def test_the_command_with_baselines_resumes(data: Path, tmp_path: Path) -> None:
    writer = Writer()
    words = ("text2sql", "--data", data, "--model", speaks(writer), "--out", tmp_path / "out")
    first = bench(*words, "--mode", "plain", "--only", "answerable")
    assert "1 question is skipped: ties" in first.output
    assert "0 done before, 2 to do" in first.output
    more = bench(*words, "--mode", "plain,plain_repair", "--json")
    assert "2 done before, 4 to do" in more.output
    tables = printed(more)
    results = {row[0]: row for row in tables["Questions that can be answered"]}
    assert [cell["value"] for cell in results["plain"][1:3]] == [0.5, 0.5]
    assert [cell["value"] for cell in results["plain_repair"][1:3]] == [1.0, 1.0]
    refused = tables["Questions that the database cannot answer"]
    assert [row[1]["value"] for row in refused] == [1.0, 1.0]
    by_category = Page.of(more).records("Accuracy by category")
    assert [*by_category[0]] == ["category", "plain", "plain_repair"]
    [path] = (tmp_path / "out").glob("*.jsonl")
    found = read(path).records.values()
    [repaired] = [r for r in found if r.method == "plain_repair" and r.question == "names"]
    assert len(repaired.calls) == 2
    assert "no such column: nmae" in writer.prompts[-1] + "".join(writer.prompts)


def test_the_query_writer_is_a_solver(data: Path, tmp_path: Path) -> None:
    def write(messages: Sequence[BaseMessage]) -> str:
        text = messages[-1].text
        return "SELECT COUNT(*) FROM shop" if "How many" in text else "SELECT name FROM shop"

    words = ("--data", data, "--model", speaks(write), "--out", tmp_path / "out", "--json")
    more = ("--only", "answerable", "--mode", "greedy,guided")
    rows = printed(bench("text2sql", *words, *more))["Questions that can be answered"]
    assert [(row[0], row[2]["value"]) for row in rows] == [("greedy", 1.0), ("guided", 1.0)]


@cases((0, []), (1, ["```\nSELECT name FROM shop LIMIT 1\n```"]))
def test_gold_queries_of_other_questions_may_count_as_confirmed(
    most: int, shown: list[str], data: Path, tmp_path: Path
) -> None:
    seen: list[str] = []

    def write(messages: Sequence[BaseMessage]) -> str:
        if "Which shops" in messages[-1].text:
            seen.extend(message.text for message in messages[1:-1][1:])
        return "SELECT name FROM shop"

    words = ("--data", data, "--model", speaks(write), "--only", "answerable", "--mode", "greedy")
    more = ("--out", tmp_path / "out", "--setting", f"confirmed_queries={most}")
    bench("text2sql", *words, *more)
    assert seen == shown


def test_the_whole_prompt(data: Path, tmp_path: Path) -> None:
    writer = Writer()
    words = ("--data", data, "--model", speaks(writer), "--out", tmp_path / "out")
    bench("text2sql", *words, "--only", "answerable")
    [dated] = [prompt for prompt in writer.prompts if "last week" in prompt]
    assert dated == (
        "CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT /* as on the sign */, opened DATE);\n"
        "\nNORTH = cold\n\nThe current date and time is 2024-06-19 12:00:00.\n\n"
        "Question: How many shops opened in the last week?\n\nA week is seven days.\n\n"
        "Return only the SQL (SQLite) query."
    )
    assert sum("current date" in prompt for prompt in writer.prompts) == 1


MATCH = "MATCH (p:Person) RETURN p.name"
WHO = {"graph": "people", "question": "Who is there?", "gold": MATCH}


@pytest.fixture
def graphs(tmp_path: Path) -> Path:
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "people.cypher").write_text(GRAPH, encoding="utf-8")
    return tmp_path


def test_the_command_over_graphs(graphs: Path) -> None:
    oldest = {**WHO, "question": "Who is old?", "gold": f"{MATCH} ORDER BY p.born LIMIT 1"}
    write_lines(graphs / "questions.jsonl", WHO, oldest)
    who, old = load(graphs)
    assert who.readings[0].rows == (("Ann",), ("Bob",))
    assert [q.readings[0].ordered for q in (who, old)] == [False, True]
    seen: list[str] = []

    def says_all(messages: Sequence[BaseMessage]) -> str:
        seen.append(messages[0].text)
        return f"```cypher\n{MATCH}\n```"

    words = ("--data", graphs, "--model", speaks(says_all), "--out", graphs / "out", "--json")
    [row] = printed(bench("text2cypher", *words))["Questions that can be answered"]
    assert row[1]["value"] == 0.5
    assert "(:Person {born integer [1980, 1990], name string" in seen[0]


def test_the_published_fields_of_a_graph(graphs: Path) -> None:
    published = {"type": "list", "answer": [], "ordered": True, "ties": "order", "agree": False}
    write_lines(graphs / "questions.jsonl", WHO | published)
    [who] = load(graphs)
    assert (who.group, who.category) == ("list", "golds differ")
    [reading] = who.readings
    assert (reading.rows, reading.ordered, reading.ties) == ((), True, "order")
    assert reading.narrower


def test_graphs_may_have_unanswerable_questions(graphs: Path) -> None:
    write_lines(graphs / "questions.jsonl", WHO)
    write_lines(graphs / "unanswerable.jsonl", {"graph": "people", "question": "Who is tall?"})
    assert [one.answerable for one in load(graphs)] == [True, False]
    [tall] = load(graphs / "unanswerable.jsonl")
    assert (tall.question, tall.readings) == ("Who is tall?", ())
    write_lines(graphs / "questions.jsonl", {**WHO, "gold": ""})
    with pytest.raises(BadInput, match="no gold query"):
        load(graphs)


async def answer_all(task: QueryTask, context: Context, on_call: OnCall) -> Solved:
    return Solved(query="SELECT id FROM shop", confidence=0.5)


def test_a_solver_of_a_package(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [
        EntryPoint("mine", f"{__name__}:answer_all", SOLVERS.group),
        EntryPoint("broken", f"{__name__}:absent", SOLVERS.group),
    ]

    def entries(*, group: str, name: str = "") -> list[EntryPoint]:
        return [entry for entry in made if group == SOLVERS.group and name in ("", entry.name)]

    monkeypatch.setattr("planweave.registry.entry_points", entries)
    assert {"mine", "plain", "plain_repair"} <= set(SOLVERS.names())
    words = ("--data", data, "--only", "answerable", "--out", tmp_path / "out", "--json")
    [row] = printed(bench("text2sql", *words, "--mode", "mine"))["Questions that can be answered"]
    assert (row[0], row[1]["value"]) == ("mine", 0.5)
    with pytest.raises(BadInput, match="absent cannot be loaded"):
        SOLVERS.get("broken")


@pytest.mark.published
def test_every_published_gold_is_right() -> None:
    questions = load(published("text2sql"), "answerable")
    assert len(questions) > 100
    wrong = [
        (question.id, result_of(question, Solved(query=reading.query)))
        for question in questions
        for reading in question.readings
        if reading.decides and result_of(question, Solved(query=reading.query))[0] != "right"
    ]
    assert [name for name, _ in wrong] in ([], ["defog-gen-203"])  # LIMIT 2 - (…) is not parsed


@pytest.mark.published
def test_every_published_refusal_is_right() -> None:
    for question in load(published("text2sql"), "unanswerable"):
        gold = question.refusal.replace("'", "''")
        assert result_of(question, Solved(query=f"SELECT '{gold}'")) == ("refused", 1.0)
