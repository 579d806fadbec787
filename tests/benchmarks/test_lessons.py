"""Lessons: what an agent's queries teach, and the command that gives them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from scripted import Prompt, Reply, act, decide, keep, plan, register
from typer.testing import CliRunner, Result

from planweave import BadInput
from planweave.apps.cli.learn import app
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.runner import carry_out
from planweave.benchmarks.core.store import read
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.lessons import Pupil, Tried, decided, paths_of, rightly
from planweave.benchmarks.suites.dqa.suite import samples
from planweave.learning.paths import TaskPath, read_paths
from planweave.memory import Context
from planweave.simulators.registry import scenario

COST = "SUM(days_late * (20 + 0.5 * units))"
RIGHT = (
    f"SELECT supplier, {COST} AS cost FROM delivery GROUP BY supplier ORDER BY cost DESC LIMIT 1"
)
LISTED = f"SELECT {COST} AS cost, supplier FROM delivery GROUP BY supplier;"
LEAST = f"SELECT supplier FROM delivery GROUP BY supplier ORDER BY {COST} LIMIT 5"
GRAPH = (
    "MATCH (s:Supplier)-[d:DELIVERED_TO]->(:Site) "
    "RETURN s.name, SUM(d.days_late * (20 + 0.5 * d.units)) AS cost"
)


def made(
    tmp_path: Path,
    *seeds: int,
    name: str = "sourcing",
    kind: Literal["relational", "graph"] = "relational",
    model: str = "none",
) -> list[Sample]:
    known = scenario(name)
    return samples(
        [known.ask(known.generate(seed, 60), seed) for seed in seeds],
        methods=["planrag"],
        databases=[kind],
        settings=Context(model=model),
        folder=tmp_path,
    )


def asking(*queries: str, decision: str | None = None, tool: str = "sql") -> str:
    """The name of a model that asks these queries in each question, then decides."""
    left: list[str] = []

    def script(prompt: Prompt) -> Reply:
        match prompt.task:
            case "plan":
                left[:] = queries
                return plan(*queries) if queries else plan("none")
            case "judge":
                return keep()
            case "decide":
                return decide(decision, 1)
        return act(tool, left.pop(0)) if left else act("finish")

    return register(script)


async def asked(sample: Sample, *queries: str, tool: str = "sql") -> Record:
    model = asking(*queries, tool=tool)
    return await carry_out(
        replace(sample, context=sample.context.model_copy(update={"model": model}))
    )


@pytest.mark.parametrize(
    ("query", "readings"),
    [
        (RIGHT, {(RIGHT, "supplier")}),
        (LEAST, {(LEAST.replace("LIMIT 5", "LIMIT 1"), "supplier")}),
        (
            LISTED,
            {(f"{LISTED[:-1]} ORDER BY 1 {way} LIMIT 1", "supplier") for way in ("DESC", "ASC")},
        ),
        ("SELECT COUNT(*) FROM delivery", set()),
        ("SELECT name FROM supplier", set()),  # a list without a number decides nothing
        ("SELECT nothing FROM supplier", set()),
    ],
)
async def test_queries_are_read_for_a_decision(
    query: str, readings: set[tuple[str, str]], tmp_path: Path
) -> None:
    (sample,) = made(tmp_path, 1)
    found = paths_of(await asked(sample, query), sample)
    assert {path.instructions for path in found} == {
        (f"sql[{text}]", f"finish[{column}]") for text, column in readings
    }
    for path in found:
        assert path.reward == float(rightly(path, sample))
        assert (path.task, path.question) == ("sourcing", sample.asked)


async def test_a_graph_is_read_too(tmp_path: Path) -> None:
    (sample,) = made(tmp_path, 1, kind="graph")
    found = paths_of(await asked(sample, GRAPH, tool="cypher"), sample)
    assert [path.instructions for path in found] == [
        (f"cypher[{GRAPH} ORDER BY cost {way} LIMIT 1]", "finish[s.name]")
        for way in ("DESC", "ASC")
    ]
    assert [path.reward for path in found] == [1, 0]


async def test_what_the_question_names_becomes_a_slot(tmp_path: Path) -> None:
    one, other = made(tmp_path, 1, 2, name="locating")
    query = (
        "SELECT t.source FROM country c JOIN flow t ON t.dest = c.home_node "
        f"WHERE c.country_name = '{_named(one)}' ORDER BY t.flow DESC LIMIT 1"
    )
    (path,) = paths_of(await asked(one, query), one)
    assert "{{country.country_name}}" in path.instructions[0]
    assert decided(path, one) in one.context.candidates
    assert decided(path, other) in other.context.candidates


def _named(sample: Sample) -> str:
    known = scenario("locating")
    question = known.ask(known.generate(1, 60), 1)
    assert question.prompt == sample.asked
    return str(question.parameters["country"])


async def _never(sample: Sample) -> Record:
    return pytest.fail(f"{sample.question} needs no answer")


def best_of(pupil: Pupil) -> Tried | None:
    return pupil.best


async def test_failures_are_learned_from_and_successes_cost_nothing(tmp_path: Path) -> None:
    pupil = Pupil(made(tmp_path, *range(100, 120)))
    first, second, third = made(tmp_path, 1, 2, 3)
    assert best_of(pupil) is None
    assert pupil.learned() is None
    lesson = await pupil.take(first, lambda sample: asked(sample, LEAST))
    assert (lesson.decided, lesson.answered, lesson.found) == (False, False, 1)
    assert best_of(pupil) is None  # it decides no trial rightly
    lesson = await pupil.take(second, lambda sample: asked(sample, LEAST, LISTED))
    assert (lesson.decided, lesson.answered, lesson.found) == (False, False, 2)
    assert lesson.calls > 2
    best = best_of(pupil)
    assert best is not None
    assert best.share == 1
    assert "DESC" in best.path.instructions[0]
    lesson = await pupil.take(third, _never)
    assert lesson == ("sourcing-3", True, None, 0, 0)
    learned = pupil.learned()
    assert learned is not None
    assert learned.reward == 1
    assert learned.origin.endswith("right in 20 of 20 trials")


async def test_of_equally_good_paths_the_shortest_is_followed(tmp_path: Path) -> None:
    pupil = Pupil(made(tmp_path, 100, 101, 102))
    (lesson,) = made(tmp_path, 1)
    longer = f"SELECT supplier, {COST} AS cost FROM delivery GROUP BY supplier ORDER BY 2 DESC"
    await pupil.take(lesson, lambda sample: asked(sample, longer, RIGHT, longer))
    assert len(pupil.tried) == 2
    assert pupil.best is not None
    lengths = {sum(map(len, one.path.instructions)): one for one in pupil.tried}
    assert pupil.best == lengths[min(lengths)]


@pytest.mark.parametrize(
    "instructions",
    [
        ("sql[SELECT nothing FROM supplier LIMIT 1]", "finish[nothing]"),
        ("sql[DROP TABLE supplier]", "finish[name]"),
        ("sql[SELECT name FROM supplier]", "finish[name]"),  # several rows
        (f"sql[{RIGHT}]", "finish[name]"),  # no such column
        (f"sql[{RIGHT}]",),
        (f"sql[{RIGHT} -- {{{{supplier.name}}}}]", "finish[supplier]"),  # nothing for the slot
    ],
)
def test_a_path_that_comes_to_no_decision_is_wrong(
    instructions: tuple[str, ...], tmp_path: Path
) -> None:
    (sample,) = made(tmp_path, 1)
    path = TaskPath("sourcing", sample.asked, instructions)
    assert decided(path, sample) is None
    assert not rightly(path, sample)


def learn(*words: object) -> Result:
    done = CliRunner().invoke(app, ["agent", *map(str, words)])
    if done.exception:
        raise done.exception
    return done


Words = Callable[..., tuple[object, ...]]


@pytest.fixture
def words(tmp_path: Path) -> Words:
    def words(model: str, **more: object) -> tuple[object, ...]:
        options = {"trials": 5, "unseen": 3, "lessons": 10, "answers": 2, "out": tmp_path / "out"}
        return (
            *("--model", model),
            *(word for name, value in (options | more).items() for word in (f"--{name}", value)),
        )

    return words


def test_the_command_learns_and_goes_on(words: Words, tmp_path: Path) -> None:
    out, model = tmp_path / "out", asking(LISTED)
    done = learn(*words(model))
    said = " ".join(done.output.split())
    assert "10 lessons, 1 answered by the model, 0 of them rightly; 2 paths tried." in said
    assert "The best decides 100.0% of 5 trials:" in said
    assert "without experience 0.0%" in said
    assert "with experience 100.0%" in said
    (learned,) = read_paths(out / "experience.jsonl")
    assert learned.instructions == (
        f"sql[{LISTED[:-1]} ORDER BY 1 DESC LIMIT 1]",
        "finish[supplier]",
    )
    assert [path.reward for path in read_paths(out / "paths.jsonl")] == [1, 0]
    card = json.loads((out / "learned.json").read_text())
    assert [row["way"] for row in card["exam"]] == ["without experience", "with experience"]
    assert [row["right"]["value"] for row in card["exam"]] == [0, 1]
    assert card["exam"][1]["calls"] == 1
    assert [lesson["unseen"] for lesson in card["lessons"]] == [1] * 10
    assert [lesson["decided"] for lesson in card["lessons"]] == [False, *[True] * 9]
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")

    answers = [read(out / name).records for name in ("lessons.jsonl", "exam.jsonl")]
    learn(*words(model))  # all of it was done before: no answer is asked for again
    assert [read(out / name).records for name in ("lessons.jsonl", "exam.jsonl")] == answers
    learn(*words(model, unseen=4))
    assert len(read(out / "exam.jsonl").records) == 8


def test_none_of_the_lessons_is_in_the_exam(words: Words, tmp_path: Path) -> None:
    learn(*words(asking(LEAST), answers=1))
    lessons, exam = (
        {record.question for record in read(tmp_path / "out" / name).records.values()}
        for name in ("lessons.jsonl", "exam.jsonl")
    )
    assert lessons == {"sourcing-1"}
    assert len(exam) == 3
    assert not lessons & exam


def test_nothing_is_learned_where_no_query_decides(words: Words, tmp_path: Path) -> None:
    done = learn(*words(asking(), answers=1))
    assert "nothing was learned" in " ".join(done.output.split())
    assert read_paths(tmp_path / "out" / "experience.jsonl") == []
    assert len(read(tmp_path / "out" / "exam.jsonl").records) == 3


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"scenario": "chess"}, "chess"),
        ({"semantics": "loose"}, "loose"),
        ({"database": "both"}, "both"),
        ({"setting": "rules=none"}, "rules"),
    ],
)
def test_what_is_wrong_is_said(more: dict[str, object], named: str, words: Words) -> None:
    with pytest.raises(BadInput, match=named):
        learn(*words("none", **more))
