"""What runs inside a subgraph: seen, interrupted, resumed, rewound and counted."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pages import Shelf, put_up
from scripted import Replies, act, acts, decide, done, finding, plan, register, tell

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

QUESTION = "What does hydrogen cost?"
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
QUOTE = "hydrogen (LCOH) is USD 5.5/kg"
COSTS = "SELECT name, cost FROM plant ORDER BY cost"


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    made = Shelf(("prices.md", 1, f"The levelised cost of {QUOTE}."))
    put_up(monkeypatch, made)
    return made


def reading() -> Replies:
    return Replies(
        plan=[plan("Find the cost.")],
        action=[acts(("documents", "levelised cost", [1])), done(tell("It costs USD 5.5/kg [1]."))],
        read=[finding(QUOTE, "It costs USD 5.5/kg.")],
    )


def of_documents(script: object, **more: object) -> Context:
    settings = {"model": register(script), "collection": "energy", "whole_collection": "off"}  # type: ignore[arg-type]
    return Context.model_validate(settings | more)


# -- streaming ------------------------------------------------------------------------------------


async def reported(context: Context, **how: Any) -> list[Event]:
    given = {"question": QUESTION}
    run: AsyncIterator[Event] = events(METHODS.get("planrag").graph, given, context, **how)
    return [event async for event in run]


async def test_what_happens_inside_is_reported_once_and_in_order(shelf: Shelf) -> None:
    found = await reported(of_documents(reading()), tokens=True)
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


# -- interrupts, edits, time travel ---------------------------------------------------------------


def querying(*queries: str) -> Replies:
    return Replies(
        plan=[plan("Look.")],
        action=[*(act("sql", query) for query in queries), done(decide("Bonn", 1))],
    )


async def test_a_run_pauses_before_the_tools_and_the_action_can_be_edited(database: str) -> None:
    graph = METHODS.get("planrag").compiled(
        checkpointer=InMemorySaver(), interrupt_before=["tools"]
    )
    context = Context(model=register(querying("SELECT nothing FROM plant")), database=database)
    await graph.ainvoke({"question": "Which is cheapest?"}, THREAD, context=context)
    paused = await graph.aget_state(THREAD)
    assert paused.next == ("tools",)
    action = paused.values["action"] | {"input": COSTS}
    await graph.aupdate_state(THREAD, {"action": action})
    memory = await graph.ainvoke(None, THREAD, context=context)
    assert [(turn["input"], turn["problem"]) for turn in memory["turns"]] == [(COSTS, "")]
    assert memory["answer"]["decision"] == "Bonn"


@pytest.mark.parametrize("edited", [None, "SELECT name FROM plant"])
async def test_a_run_is_done_again_from_before_a_subgraph(
    edited: str | None, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = METHODS.get("planrag").compiled(checkpointer=InMemorySaver())
    script = querying(COSTS)
    context = Context(model=register(script), database=database)
    first = await graph.ainvoke({"question": "Which is cheapest?"}, THREAD, context=context)
    history = [state async for state in graph.aget_state_history(THREAD)]
    (before,) = [state for state in history if state.next == ("tools",)]
    place = before.config
    if edited:
        action = before.values["action"] | {"input": edited}
        place = await graph.aupdate_state(before.config, {"action": action})
    script.left["action"] = [done(decide("Bonn", 1))]
    again = await graph.ainvoke(None, place, context=context)
    assert [turn["input"] for turn in again["turns"]] == [edited or COSTS]
    assert again["turns"][0]["seconds"] != first["turns"][0]["seconds"]  # it was done again
    assert [fact["number"] for fact in again["facts"]] == [1]
    assert again["usage"]["planner"]["calls"] == 1


async def test_a_person_is_asked_inside_and_the_run_goes_on_there(shelf: Shelf) -> None:
    from langchain_core.tools import tool

    from planweave.tools.bound import TOOLS, register_tool

    @tool
    def tide(harbour: str) -> str:
        """Height of the tide at a harbour."""
        return f"1.5 m at {harbour}"

    kept = dict(TOOLS._known)
    register_tool(tide)
    try:
        script = Replies(
            plan=[plan("Look.")],
            action=[
                acts(("documents", "levelised cost", [1]), ("tide", '{"harbour": "Hull"}', [1])),
                done(tell("It costs USD 5.5/kg [1].")),
            ],
            read=[finding(QUOTE, "It costs USD 5.5/kg.")],
        )
        graph = METHODS.get("planrag").compiled(checkpointer=InMemorySaver())
        context = of_documents(script, tools="tide", approve_tools=True)
        stopped = await graph.ainvoke({"question": QUESTION}, THREAD, context=context)
        (asked,) = stopped["__interrupt__"]
        assert asked.value["action_requests"][0]["name"] == "tide"
        inside = (await graph.aget_state(THREAD, subgraphs=True)).tasks[0].state
        assert inside.next == ("bound_tool",)
        resume: Command[Any] = Command(resume={"decisions": [{"type": "approve"}]})
        memory = await graph.ainvoke(resume, THREAD, context=context)
    finally:
        TOOLS._known.clear()
        TOOLS._known.update(kept)
    assert shelf.queries == ["levelised cost"]  # what had been read is not read again
    assert script.tasks.count("read") == 1
    assert [fact["source"] for fact in memory["facts"]] == ["documents", "tide"]
