"""Cuts are marked, admitted decisions are never refused, hints say how many values there are."""

from pathlib import Path

import pytest
from cases import cases
from pages import put_up
from scripted import Replies, Run, act, answer_of, decide, finding, plan, tell

from planweave.memory import NO_DECISION
from planweave.nodes.deciding.answering_machine import match_candidate
from planweave.nodes.support.briefing import fill_prompt
from planweave.prompts import load

COSTS = "SELECT name, cost FROM plant ORDER BY cost"


async def test_a_long_step_of_a_plan_ends_with_a_mark_at_a_word(run: Run) -> None:
    step = "Compare the costs of all plants " * 30
    script = Replies(plan=[plan(step)], action=[act("sql", COSTS)], decide=[decide("Bonn", 1)])
    memory = await run("planrag", script, max_iterations=1)
    (kept,) = memory["plan"]
    assert 200 < len(kept) <= 400
    assert kept.endswith("…")
    assert kept.removesuffix("…").split()[-1] in step.split()


@cases(
    ("bonn", ["Aachen", "Bonn"], "Bonn"),
    ("Open a plant in New York.", ["New York", "York"], "New York"),
    ("New York, not York", ["New York", "York"], "New York"),
    ("Sao Paulo", ["São Paulo", "Rio"], "São Paulo"),
    ("No, it does not.", ["yes", "no"], "no"),
    ("No", ["yes", "no"], "no"),
    ("Build the not-for-profit shop", ["not-for-profit shop"], "not-for-profit shop"),
    ("x-1", ["x-1", "X 1"], "x-1"),
    ("42", ["41", "42"], "42"),
    ("None", ["Aachen", "Bonn"], NO_DECISION),
    ("none", ["None", "Bonn"], "None"),
    ("Berlin", ["Aachen", "Bonn"], None),
    ("Not Bonn", ["Aachen", "Bonn"], None),
    ("Aachen or Bonn", ["Aachen", "Bonn"], None),
    ("1,200", ["1", "2"], None),
)
def test_what_is_admitted_is_taken(said: str, candidates: list[str], wanted: str | None) -> None:
    assert match_candidate(said, candidates) == wanted


async def test_a_long_decision_is_admitted(run: Run) -> None:
    long = "Open a second plant in Bonn " * 20
    script = Replies(action=[act("sql", COSTS)], decide=[decide(long.strip(), 1)])
    memory = await run("single_rag", script, candidates=(long.strip(), "nothing"))
    assert answer_of(memory)["decision"] == long.strip()


async def test_the_second_prompt_counts_the_admitted_decisions(run: Run) -> None:
    names = [f"plant {number}" for number in range(40)]
    script = Replies(action=[act("sql", COSTS)], decide=[decide("shop 7", 1), decide("plant 7", 1)])
    await run("single_rag", script, candidates=names)
    complaint = script.prompts[-1].messages[-1].text
    assert "plant 7" in complaint
    assert "and 30 more" in complaint


async def test_that_nothing_improves_is_an_answer(run: Run) -> None:
    none = {"why": "Bonn costs 7.25, the least.", "facts": [1], "decision": "none", "unknown": ""}
    script = Replies(action=[act("sql", COSTS)], decide=[none])
    memory = await run("single_rag", script, candidates=("Aachen", "Bonn"))
    answer = answer_of(memory)
    assert answer["decision"] == "none"
    assert answer["verdict"]["kind"] != "undecided"
    assert memory["failures"] == []
    assert len(script.prompts) == 2


async def test_a_tie_is_reported_with_its_rule(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "equal.sql"
    names = ("Aachen", "Bonn", "Cottbus")
    rows = "".join(f"INSERT INTO plant VALUES ('{name}', 7.25);" for name in names)
    path.write_text(f"CREATE TABLE plant(name TEXT, cost REAL); {rows}")
    script = Replies(action=[act("sql", COSTS)], decide=[decide("Bonn", 1)])
    memory = await run("single_rag", script, database=str(path))
    said = answer_of(memory)["verdict"]["text"]
    assert "lowest cost of fact [1]; 3 are equal: Aachen, Bonn, Cottbus" in said


@cases("agent_v3/planner", "planrag/planner_with_documents")
def test_prompts_speak_of_what_is_connected(name: str) -> None:
    values = dict.fromkeys(load(name).placeholders - {"kinds"}, "")
    told = {
        sources: fill_prompt(name, {"languages": dict.fromkeys(sources, "")}, **values)
        for sources in (("documents",), ("sql",), ("documents", "cypher"))
    }
    assert "one search of the documents or one calculation" in told[("documents",)]
    assert "database" not in told[("documents",)]
    assert "documents" not in told[("sql",)].partition("Every step")[2]
    all_three = "one search of the documents, one query of the database or one calculation"
    assert all_three in told[("documents", "cypher")]


@cases("agent_v3", "agent_v2", "react", "agent_v1", "planrag")
async def test_documents_have_no_database(
    name: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_up(monkeypatch, ("review.pdf", 82, "The cost of hydrogen is USD 5.5/kg in 2023."))
    script = Replies(
        plan=[plan("Find the cost.")] * 3,
        task=[{"task": "Find the cost."}] * 2,
        action=[act("documents", "hydrogen cost"), act("finish")],
        verdict=[{"reason": "", "verdict": "TERMINATE"}] * 2,
        judge=[{"reason": "", "replan": "N", "steps": []}],
        read=[finding("hydrogen is USD 5.5/kg", "It costs USD 5.5/kg.")],
        answer=[tell("It costs USD 5.5/kg [1].", "USD 5.5/kg")],
    )
    asked = {"question": "What does hydrogen cost?"}
    given = {"database": None, "collection": "energy", "whole_collection": "off"}
    await run(name, script, asked, **given)
    assert script.prompts
    for prompt in script.prompts:
        assert "database" not in prompt.text, prompt.task
        assert "filters them" not in prompt.text, prompt.task
