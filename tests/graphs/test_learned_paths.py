"""PlanRAG with experience: a learned path is the plan; without a model the path policy."""

import re
from pathlib import Path

import pytest
from cases import cases
from scripted import Replies, Run, act, answer_of, change, decide, keep, plan

from planweave.learning.experience import experience_of
from planweave.learning.paths import TaskPath, write_paths
from planweave.learning.queries.memory import OWN, SHIPPED
from planweave.memory import WorkingMemory
from planweave.nodes.deciding.experience import plan_of_path
from planweave.simulators.registry import scenario
from planweave.simulators.scenario import Question


def solved(name: str) -> Question:
    """A generated question that is no lesson."""
    made = scenario(name)
    return made.ask(made.generate(900_001, 200), 1)


def written(question: Question, tool: str, folder: Path) -> dict[str, object]:
    """The question's database as a script, and what else its run needs to know."""
    assert question.database
    sql = tool == "sql"
    file = folder / f"world.{'sql' if sql else 'cql'}"
    file.write_text(question.database.sql if sql else question.database.cypher)
    candidates = tuple(map(str, question.candidates))
    at = str(file)
    return {"database": at if sql else None, "graph": None if sql else at, "candidates": candidates}


def own_path(folder: Path, question: Question, query: str, *, end: str = "decision") -> str:
    """A file of one path for the question: a query, and the column that decides, if any."""
    steps = (f"sql[{query}]", f"finish[{end}]") if end else (f"sql[{query}]",)
    write_paths(folder / "own.jsonl", [TaskPath("building", question.prompt, steps)])
    return str(folder / "own.jsonl")


@pytest.mark.parametrize("tool", ["sql", "cypher"])
@pytest.mark.parametrize("name", ["locating", "building"])
async def test_decides_as_the_simulator(name: str, tool: str, run: Run, tmp_path: Path) -> None:
    question, script = solved(name), Replies()
    world = written(question, tool, tmp_path)
    memory = await run("path_policy", script, {"question": question.prompt}, **world)
    assert memory["answer"]
    assert memory["path"]
    outcome = question.simulate(semantics="annotation")
    assert memory["answer"]["decision"] in [str(best) for best in outcome.equivalent]
    assert memory["answer"]["facts"] == [1]
    assert [claim["supported"] for claim in memory["claims"]] == [True]
    assert "{{" not in memory["path"]["instructions"][0]
    assert memory["path"]["origins"][0].startswith(f"generated: {name}")
    assert script.prompts == []


@cases("0", "all of them", "so sorry")
async def test_a_paths_decision_survives_nonsense(said: str, run: Run, tmp_path: Path) -> None:
    question = solved("building")
    reply = "no JSON" if said == "so sorry" else decide(said, 1)
    script = Replies(decide=[reply] * 4)
    memory = await _planrag(run, script, question, tmp_path)
    assert answer_of(memory)["decision"] == str(memory["facts"][0]["values"]["decision"])
    assert answer_of(memory)["facts"] == [1]
    assert answer_of(memory)["why"].startswith("A learned query selects")
    assert memory["failures"]
    assert "The learned query puts" in script.prompts[0].text
    assert said == "so sorry" or len(script.prompts) == 1  # it is not asked for another decision


async def test_a_path_reads_its_decision_off_a_named_column(run: Run, tmp_path: Path) -> None:
    question = solved("building")
    query = f"SELECT 0 AS decision, {question.answer} AS id"
    file = own_path(tmp_path, question, query, end="id")
    memory = await _policy(run, question, tmp_path, experience=file)
    assert answer_of(memory)["decision"] == str(question.answer)


async def test_a_path_that_decides_nothing_admitted_is_overruled(run: Run, tmp_path: Path) -> None:
    question = solved("building")
    file = own_path(tmp_path, question, "SELECT 'the moon' AS decision FROM building")
    script = Replies(decide=[decide("the moon", 1), decide(str(question.answer), 1)])
    memory = await _planrag(run, script, question, tmp_path, experience=file)
    assert answer_of(memory)["decision"] == str(question.answer)
    assert len(script.prompts) == 2


@cases(
    ("SELECT moon AS decision FROM nowhere", "nowhere"),
    ("DELETE FROM goods", "read"),
    ids=["it fails", "it would write"],
)
async def test_the_path_policy_asks_no_model_where_its_query_is_refused(
    query: str, problem: str, run: Run, tmp_path: Path
) -> None:
    question = solved("building")
    file = own_path(tmp_path, question, query)
    memory = await _policy(run, question, tmp_path, experience=file, assist="on")
    assert (answer_of(memory)["decision"], memory["facts"]) == (None, [])
    assert problem in memory["turns"][0]["problem"]
    assert problem in answer_of(memory)["unknown"]


async def test_the_path_policy_reports_a_path_without_a_decision(run: Run, tmp_path: Path) -> None:
    question = solved("building")
    file = own_path(tmp_path, question, "SELECT id FROM building", end="")
    memory = await _policy(run, question, tmp_path, experience=file)
    assert answer_of(memory)["decision"] is None
    assert "names no decision" in answer_of(memory)["unknown"]


async def test_experience_is_off_unless_it_is_asked_for(run: Run, tmp_path: Path) -> None:
    question = solved("building")
    script = Replies(plan=[plan("Look.")], action=[act("finish")])
    world = written(question, "sql", tmp_path)
    memory = await run("planrag", script, {"question": question.prompt}, **world)
    assert memory["path"] is None
    assert script.tasks[0] == "plan"


@cases("How many buildings are there?", "Which building should grow so that the price falls most?")
async def test_where_nothing_fits_a_plan_is_made(asked: str, run: Run, tmp_path: Path) -> None:
    script = Replies(plan=[plan("Look.")], action=[act("finish")])
    world = written(solved("building"), "sql", tmp_path)
    memory = await run("planrag", script, {"question": asked}, **world, experience=SHIPPED)
    assert memory["path"] is None
    assert script.tasks[0] == "plan"
    policy = await run("path_policy", Replies(), {"question": asked}, **world)
    assert answer_of(policy)["decision"] is None
    assert "No learned path" in answer_of(policy)["unknown"]


async def test_the_model_replaces_a_path_that_fails(run: Run, tmp_path: Path) -> None:
    question = solved("building")
    file = own_path(tmp_path, question, "SELECT nothing AS decision FROM goods")
    read = act("sql", "SELECT id FROM building")
    judge, right = [change("Read the buildings."), keep()], decide(str(question.answer), 1)
    script = Replies(action=[read, act("finish")], judge=judge, decide=[right])
    memory = await _planrag(run, script, question, tmp_path, experience=file)
    assert [bool(turn["problem"]) for turn in memory["turns"]] == [True, False]
    assert script.tasks == ["judge", "action", "judge", "action", "decide"]


@cases("file", OWN)
async def test_a_confirmed_path_serves_another_question(
    source: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = scenario("building")
    first, second = solved("building"), made.ask(made.generate(900_002, 200), 2)
    goods, other = (re.findall(r"price of (\w+)", one.prompt)[0] for one in (first, second))
    assert goods != other
    query = (
        "SELECT b.id AS decision FROM building b JOIN supply s ON s.building_id = b.id "
        f"JOIN goods g ON g.code = s.goods_id WHERE g.goods_name = '{goods}' "
        "ORDER BY s.current_output DESC LIMIT 1"
    )
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path))
    kept = experience_of("alice")
    kept.add([TaskPath("", first.prompt, (f"sql[{query}]",), origin="thread abc")])
    write_paths(tmp_path / "mine.jsonl", [entry.path for entry in kept.entries()])
    given = {"experience": OWN if source == OWN else str(tmp_path / "mine.jsonl")}
    script = Replies(decide=[decide(str(second.answer), 1)])
    memory = await _planrag(run, script, second, tmp_path, **given, owner="alice")
    assert script.tasks == ["decide"]
    assert memory["plan"] == plan_of_path()
    assert answer_of(memory)["facts"] == [1]
    (turn,) = memory["turns"]
    assert (turn["input"], turn["problem"]) == (query.replace(goods, other), "")
    assert memory["path"]
    assert memory["path"]["origins"] == ["thread abc"]


async def test_own_experience_is_the_latest(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWEAVE_STATE_DIR", str(tmp_path))
    question = solved("building")

    async def origins() -> list[str]:
        memory = await _policy(run, question, tmp_path, experience=OWN, owner="alice")
        return memory["path"]["origins"] if memory["path"] else []

    def query(number: int) -> tuple[str, ...]:
        return (f"sql[SELECT id AS decision FROM building LIMIT {number}]", "finish[decision]")

    mine, bobs = experience_of("alice"), experience_of("bob")
    bobs.add([TaskPath("", question.prompt, query(9), origin="bob's")])
    mine.add([TaskPath("", question.prompt, query(8), 0.5, origin="half of it")])
    assert await origins() == []
    for number, origin in enumerate(("first", "second"), 1):
        mine.add([TaskPath("", question.prompt, query(number), origin=origin)])
        assert await origins() == [origin]  # the latest


async def _planrag(
    run: Run, script: Replies, question: Question, folder: Path, **settings: str
) -> WorkingMemory:
    world = written(question, "sql", folder) | {"experience": SHIPPED} | settings
    return await run("planrag", script, {"question": question.prompt}, **world)


async def _policy(run: Run, question: Question, folder: Path, **settings: str) -> WorkingMemory:
    world = written(question, "sql", folder) | settings
    return await run("path_policy", Replies(), {"question": question.prompt}, **world)
