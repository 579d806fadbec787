"""LangChain tools that a run binds: offered, called, cited, approved by a person."""

import pytest
from langchain_core.tools import tool
from scripted import Replies, Run, Thread, act, decide

from planweave import BadInput
from planweave.tools.bound import TOOLS, register_tool


@tool
def tide(harbour: str, hour: int = 12) -> dict[str, float]:
    """Height of the tide at a harbour."""
    return {"metres": 1.5, "hour": hour}


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TOOLS, "_known", {})
    register_tool(tide)


def asked() -> Replies:
    return Replies(
        action=[act("tide", '{"harbour": "Hull"}'), act("finish", "")],
        decide=[decide("Hull", 1)],
    )


async def test_a_tool_that_is_not_known_is_reported_first(run: Run) -> None:
    with pytest.raises(BadInput, match=r"There is no tool 'moon'. The tools are: tide"):
        await run("iter_rag", Replies(), tools=["moon"])


@pytest.mark.parametrize(
    ("decision", "hour"),
    [
        ({"type": "approve"}, 12),
        ({"type": "edit", "edited_action": {"args": {"harbour": "Hull", "hour": 3}}}, 3),
        ({"type": "reject", "message": "Not now."}, None),
    ],
)
async def test_a_person_approves_edits_or_refuses_a_call(
    decision: dict[str, object], hour: int | None, database: str
) -> None:
    thread = Thread("iter_rag", asked(), database=database, tools="tide", approve_tools=True)
    stopped = await thread.go("How high?")
    (request,) = stopped["__interrupt__"][0].value["action_requests"]
    assert (request["name"], request["args"]) == ("tide", {"harbour": "Hull"})
    memory = await thread.decide(decision)
    if hour is None:
        assert memory["turns"][0]["problem"] == "A person refused this call: Not now."
        assert memory["facts"] == []
    else:
        assert memory["facts"][0]["values"]["hour"] == hour
