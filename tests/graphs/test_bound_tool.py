"""LangChain tools that a run binds: offered, called, cited, approved by a person."""

import pytest
from cases import cases
from langchain_core.tools import tool
from scripted import Replies, Run, Thread, act, acts, decide, done, steps

from planweave import BadInput
from planweave.tools.bound import TOOLS, register_tool


@tool
def tide(harbour: str, hour: int = 12) -> dict[str, float]:
    """Height of the tide at a harbour."""
    return {"metres": 1.5, "hour": hour}


@tool
def heights(harbour: str) -> dict[object, float]:
    """Heights by hour and day."""
    return {(1, harbour): 1.5, "mean": 1.5, "missing": float("nan")}


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TOOLS, "_known", {})
    register_tool(tide)
    register_tool(heights)


async def test_a_tool_that_is_not_known_is_reported_first(run: Run) -> None:
    with pytest.raises(BadInput, match=r"There is no tool 'moon'. The tools are: tide, heights"):
        await run("iter_rag", Replies(), tools=["moon"])


@cases(
    ({"type": "approve"}, 12),
    ({"type": "edit", "edited_action": {"args": {"harbour": "Hull", "hour": 3}}}, 3),
    ({"type": "reject", "message": "Not now."}, None),
)
async def test_a_person_approves_edits_or_refuses_a_call(
    decision: dict[str, object], hour: int | None, database: str
) -> None:
    actions = [act("tide", '{"harbour": "Hull"}'), act("finish", "")]
    script = Replies(action=actions, decide=[decide("Hull", 1)])
    thread = Thread("iter_rag", script, database=database, tools="tide", approve_tools=True)
    stopped = await thread.go("How high?")
    (request,) = stopped["__interrupt__"][0].value["action_requests"]
    assert (request["name"], request["args"]) == ("tide", {"harbour": "Hull"})
    memory = await thread.decide(decision)
    if hour is None:
        assert memory["turns"][0]["problem"] == "A person refused this call: Not now."
        assert memory["facts"] == []
    else:
        assert memory["facts"][0]["values"]["hour"] == hour


async def test_a_result_of_any_kind_becomes_a_fact(run: Run) -> None:
    script = Replies(action=[act("heights", "Hull"), act("finish")], decide=[decide("Hull", 1)])
    (fact,) = (await run("iter_rag", script, tools=["heights"]))["facts"]
    assert "(1, 'Hull'): 1.5" in fact["text"]
    assert fact["values"] == {"(1, 'Hull')": 1.5, "mean": 1.5}


async def test_a_person_is_asked_about_one_call_at_a_time(database: str) -> None:
    calls = [("tide", f'{{"harbour": "{name}"}}', [n]) for n, name in ((1, "Hull"), (2, "Kiel"))]
    actions = [acts(*calls), acts(calls[1]), done(decide("Hull", 1))]
    script = Replies(plan=[steps("Hull.", "Kiel.")], action=actions)
    thread = Thread("planrag", script, database=database, tools="tide", approve_tools=True)
    memory = await thread.go("How high?")
    for harbour in ("Hull", "Kiel"):
        (waits,) = memory["__interrupt__"]
        assert waits.value["action_requests"][0]["args"] == {"harbour": harbour}
        memory = await thread.decide({"type": "approve"})
    assert [fact["source"] for fact in memory["facts"]] == ["tide", "tide"]


async def test_an_ensemble_calls_no_tool_that_a_person_must_approve(run: Run) -> None:
    with pytest.raises(BadInput, match="waits for approval"):
        await run("ensemble", Replies(), tools=["tide"], approve_tools=True)
