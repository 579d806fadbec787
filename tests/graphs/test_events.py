"""What a run reports: from LangGraph's own objects, and from what a server makes of them."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Interrupt, Overwrite
from scripted import act, change, decide, keep, plan, playing

from planweave.apps.server.wire import decode, encode
from planweave.graphs.support.events import (
    ActionEvent,
    AnswerEvent,
    ApprovalEvent,
    CallEvent,
    Event,
    EventReader,
    FactEvent,
    PlanEvent,
    ProblemEvent,
    ProgressEvent,
    ReplanEvent,
    ThoughtEvent,
    TokenEvent,
)
from planweave.graphs.support.running import events, graph
from planweave.memory import Context, Input
from planweave.models import registered
from planweave.testing import ScriptedModel


def turn(number: int, *, problem: str = "") -> dict[str, object]:
    facts = [] if problem else [number]
    return {"tool": "sql", "input": f"SELECT {number}", "facts": facts, "problem": problem}


def fact(number: int) -> dict[str, object]:
    return {"number": number, "text": f"row {number}", "quote": None}


def read(reader: EventReader, *updates: Mapping[str, Any], sent: bool) -> list[Event]:
    """The events of updates, as they are or as a server sends and a client reads them."""
    given: Iterable[Any] = (decode(encode(update)) if sent else update for update in updates)
    return [event for update in given for event in reader.read("updates", update)]


both = pytest.mark.parametrize("sent", [False, True], ids=["objects", "JSON"])


@both
def test_each_action_comes_before_its_own_facts(sent: bool) -> None:
    update = {"turns": [turn(1), turn(2)], "facts": Overwrite([fact(1), fact(2), fact(3)])}
    shown: list[object] = []
    for event in read(EventReader("ensemble"), {"agreement": update}, sent=sent):
        match event:
            case ActionEvent(tool=tool, input=given):
                shown.append((tool, given))
            case FactEvent(fact=found):
                shown.append(found["number"])
    assert shown == [("sql", "SELECT 1"), 1, ("sql", "SELECT 2"), 2, 3]


@both
def test_an_action_tells_what_the_program_corrected(sent: bool) -> None:
    update = {"turns": [turn(1) | {"corrected": ["nam → name"]}, turn(2)]}
    found = read(EventReader("planrag"), {"sql": update}, sent=sent)
    corrected = [event.corrected for event in found if isinstance(event, ActionEvent)]
    assert corrected == [("nam → name",), ()]


@both
def test_a_problem_names_its_tool_or_its_role(sent: bool) -> None:
    failure = {"role": "planner", "kind": "malformed_reply", "detail": "no JSON"}
    update = {"turns": [turn(1, problem="no rows")], "failures": [failure]}
    found = read(EventReader("planrag"), {"sql": update}, sent=sent)
    rows, reply = ("sql", "no rows"), ("planner", "no JSON")
    assert found[1:] == [ProblemEvent(where=where, text=text) for where, text in (rows, reply)]


@both
def test_a_plan_is_reported_when_it_is_new(sent: bool) -> None:
    updates: list[dict[str, Any]] = [
        {"planner": {"plan": ["a"], "replans": []}},
        {"autogpt": {"plan": ["a"]}},
        {"replanner": {"plan": ["b"], "replans": [{"reason": "No.", "after": ["b"]}]}},
        {"plan_approval": {"plan": ["b"]}},
        {"intake": {"plan": ["c"]}},
        {"plan_approval": {"plan": ["c"]}},
    ]
    assert read(EventReader("planrag"), *updates, sent=sent) == [
        PlanEvent(steps=["a"]),
        ReplanEvent(reason="No.", steps=["b"]),
        PlanEvent(steps=["c"]),
    ]


def test_a_query_is_reported_with_what_the_assessor_gives_it() -> None:
    queries = {"clusterer": {"candidate_queries": ["director of Aurora", "film"]}}
    scores = {"assessor": {"query_scores": [0.125, -2.0]}}
    texts = ("query 0.12: director of Aurora", "query -2.00: film")
    found = read(EventReader("furepa"), queries, scores, sent=False)
    assert found == [ThoughtEvent(text=text) for text in texts]


@both
def test_the_result_is_made_from_updates_alone(sent: bool) -> None:
    answer = {"decision": "birch", "why": "", "facts": [2], "unknown": ""}
    used = {"planner": {"calls": 2}}
    updates: list[dict[str, Any]] = [
        {"planner": {"plan": ["a"], "usage": used}},
        {"sql": {"facts": [fact(1)], "turns": [turn(1)], "usage": used}},
        {"sql": {"facts": [fact(2)], "turns": [turn(2)]}},
        {"answering_machine": {"answer": answer}},
        {"closing": {"messages": [AIMessage("**birch**")]}},
    ]
    reader = EventReader("planrag", "t")
    read(reader, *updates, sent=sent)
    end = reader.end()
    assert isinstance(end, AnswerEvent)
    result = end.result
    assert (result.method, result.thread, result.text) == ("planrag", "t", "**birch**")
    assert (result.decision, result.plan, result.usage.calls) == ("birch", ["a"], 4)
    assert [found["number"] for found in result.facts] == [1, 2]
    assert [found["number"] for found in result.cited] == [2]


@both
def test_a_run_that_waits_for_a_person_ends_with_what_is_asked(sent: bool) -> None:
    reader = EventReader("planrag")
    asked = {"__interrupt__": [Interrupt(value={"action_requests": []}, id="1")]}
    assert read(reader, {"planner": {"plan": ["a"]}}, asked, sent=sent) == [PlanEvent(steps=["a"])]
    end = reader.end()
    assert isinstance(end, ApprovalEvent)
    assert (end.request, end.result.plan) == ({"action_requests": []}, ["a"])


QUERY = "SELECT name, price FROM offer ORDER BY price LIMIT 1"


async def test_a_graph_reports_its_run_in_order(offers: str) -> None:
    replies = [
        plan("Look."),
        act("sql", "SELECT name FROM offer WHERE price < 0"),
        change("Find the cheapest."),
        act("sql", QUERY),
        keep(),
        act("finish"),
        decide("birch", 1),
    ]
    with registered(ScriptedModel(replies)) as model:
        context = Context(model=model, database=offers)
        run = events(graph("planrag"), Input(question="Which?"), context, tokens=True)
        found = [event async for event in run]
    kinds = [event.type for event in found if event.type not in ("token", "call", "progress")]
    assert kinds == [
        *("plan", "thought", "action", "problem", "replan"),
        *("thought", "action", "fact", "thought", "thought", "answer"),
    ]
    calls = [event.record.role for event in found if isinstance(event, CallEvent)]
    assert calls[:3] == ["planner", "selector", "replanner"]
    written = [event for event in found if isinstance(event, TokenEvent)]
    assert {event.node for event in written} == {"answering_machine"}
    assert "".join(event.text for event in written) == "It is best."
    doing = dict.fromkeys(event.doing for event in found if isinstance(event, ProgressEvent))
    assert [*doing] == [
        *("writing the plan", "choosing the next step", "running the query", "judging the plan"),
        *("writing the answer", "checking the answer"),
    ]
    last = found[-1]
    assert isinstance(last, AnswerEvent)
    assert (last.result.decision, last.result.usage.calls) == ("birch", 7)


async def test_to_stop_reading_stops_the_run(offers: str) -> None:
    asked: list[str] = []

    def endless(prompt: Any) -> Any:
        asked.append(prompt.task)
        return act("sql", f"SELECT {len(asked)} AS n FROM offer")

    with registered(playing(endless)) as model:
        context = Context(model=model, database=offers)
        run = events(graph("iter_rag"), Input(question="Which?"), context)
        async for event in run:
            if isinstance(event, FactEvent):
                break
        await run.aclose()
    assert len(asked) < 3


def test_a_resumed_run_counts_the_steps_of_its_plan() -> None:
    reader = EventReader("planrag")
    assert [*reader.read("values", {"plan": ["Look.", "Decide."], "done_steps": []})] == []
    found = [*reader.read("updates", {"tools": {"done_steps": [1]}})]
    assert found == [ThoughtEvent(text="1 of 2 steps done: 1")]
