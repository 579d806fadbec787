"""What runs inside a subgraph: seen, interrupted, resumed, rewound and counted."""

import pytest
from cases import cases
from langchain_core.tools import tool
from pages import Shelf, put_up
from scripted import Replies, Thread, act, acts, decide, done, finding, plan, register, tell

from planweave.graphs import METHODS
from planweave.graphs.support.events import (
    ActionEvent,
    AnswerEvent,
    CallEvent,
    Event,
    FactEvent,
    ProgressEvent,
    ThoughtEvent,
    TokenEvent,
)
from planweave.graphs.support.running import events
from planweave.memory import Context
from planweave.tools.bound import TOOLS

QUESTION = "What does hydrogen cost?"
OF_DOCUMENTS = {"collection": "energy", "whole_collection": "off"}
QUOTE = "hydrogen (LCOH) is USD 5.5/kg"
COSTS = "SELECT name, cost FROM plant ORDER BY cost"


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    return put_up(monkeypatch, ("prices.md", 1, f"The levelised cost of {QUOTE}."))


def reading() -> Replies:
    return Replies(
        plan=[plan("Find the cost.")],
        action=[acts(("documents", "levelised cost", [1])), done(tell("It costs USD 5.5/kg [1]."))],
        read=[finding(QUOTE, "It costs USD 5.5/kg.")],
    )


async def test_what_happens_inside_is_reported_once_and_in_order(shelf: Shelf) -> None:
    context = Context.model_validate({"model": register(reading()), **OF_DOCUMENTS})
    run = events(METHODS.get("planrag").graph, {"question": QUESTION}, context, tokens=True)
    found: list[Event] = [event async for event in run]
    kinds = (ThoughtEvent, ActionEvent, FactEvent, AnswerEvent)
    told = [event for event in found if isinstance(event, kinds)]
    texts = [event.text if isinstance(event, ThoughtEvent) else event.type for event in told]
    assert texts[:3] == ["Now.", "found prices.md p. 1", "action"]
    assert texts.count("action") == texts.count("fact") == texts.count("answer") == 1
    calls = [event.record for event in found if isinstance(event, CallEvent)]
    assert [call.role for call in calls] == ["planner", "selector", "reader", "selector"]
    assert [call.stage for call in calls] == ["2", "4", "5.1.2", "6"]
    said = "".join(event.text for event in found if isinstance(event, TokenEvent))
    assert said == "It costs USD 5.5/kg [1]."
    doing = [event.doing for event in found if isinstance(event, ProgressEvent)]
    assert "reading the pages" in doing


def querying(*queries: str) -> Replies:
    actions = [act("sql", query) for query in queries]
    return Replies(plan=[plan("Look.")], action=[*actions, done(decide("Bonn", 1))])


@cases(None, "SELECT name FROM plant")
async def test_a_run_is_rewound_before_a_subgraph(edited: str | None, database: str) -> None:
    script = querying(COSTS)
    thread = Thread("planrag", script, database=database)
    first = await thread.go("Which is cheapest?")
    history = [state async for state in thread.graph.aget_state_history(thread.config)]
    (before,) = [state for state in history if state.next == ("tools",)]
    thread.config = before.config
    if edited:
        action = before.values["action"] | {"input": edited}
        thread.config = await thread.graph.aupdate_state(before.config, {"action": action})
    script.left["action"] = [done(decide("Bonn", 1))]
    again = await thread.go()
    assert [turn["input"] for turn in again["turns"]] == [edited or COSTS]
    assert again["turns"][0]["seconds"] != first["turns"][0]["seconds"]  # it was done again
    assert [fact["number"] for fact in again["facts"]] == [1]
    assert again["usage"]["planner"]["calls"] == 1


async def test_the_state_can_be_edited_at_every_checkpoint(database: str) -> None:
    script = querying("SELECT price FROM plant", COSTS)
    thread = Thread("planrag", script, database=database)
    await thread.go("Which is cheapest?")
    states = [state async for state in thread.graph.aget_state_history(thread.config)]
    assert len(states) > 8
    for state in states[:-2]:  # the first two contain only the question
        edited = await thread.graph.aupdate_state(state.config, {"plan": ["Do this."]})
        assert (await thread.graph.aget_state(edited)).values["plan"] == ["Do this."]


async def test_a_person_is_asked_inside(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    @tool
    def tide(harbour: str) -> str:
        """Height of the tide at a harbour."""
        return f"1.5 m at {harbour}"

    monkeypatch.setattr(TOOLS, "_known", {"tide": tide})
    script = reading()
    both = acts(("documents", "levelised cost", [1]), ("tide", '{"harbour": "Hull"}', [1]))
    script.left["action"][0] = both
    thread = Thread("planrag", script, **OF_DOCUMENTS, tools="tide", approve_tools=True)
    (asked,) = (await thread.go(QUESTION))["__interrupt__"]
    assert asked.value["action_requests"][0]["name"] == "tide"
    inside = (await thread.graph.aget_state(thread.config, subgraphs=True)).tasks[0].state
    assert inside.next == ("bound_tool",)
    memory = await thread.decide({"type": "approve"})
    assert shelf.queries == ["levelised cost"]  # what had been read is not read again
    assert script.tasks.count("read") == 1
    assert [fact["source"] for fact in memory["facts"]] == ["documents", "tide"]
