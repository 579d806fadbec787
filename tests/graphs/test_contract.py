"""The contract of every registered method and tool, ours or a package's."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import wraps
from inspect import isawaitable
from pathlib import Path
from threading import Event
from typing import Any, get_type_hints

import pytest
from cases import cases
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Overwrite
from pages import put_up
from player import PAGE, World
from scripted import (
    Prompt,
    Replies,
    Reply,
    Script,
    act,
    answer_of,
    ask,
    decide,
    finding,
    register,
    tell,
)

from planweave import PlanweaveError
from planweave.graphs import METHODS
from planweave.graphs.support import builder as building
from planweave.graphs.support import parts
from planweave.graphs.support.events import AnswerEvent, CallEvent, FactEvent
from planweave.graphs.support.running import events
from planweave.memory import BOUND_TOOL, OWN_TOOLS, Context, WorkingMemory, total_usage
from planweave.models import ModelUnavailable
from planweave.tools.bound import TOOLS
from planweave.tools.environments import episodes

MODELLESS = ("path_policy",)
THREAD: Any = {"configurable": {"thread_id": "1"}}
BAD = "I would rather talk about the weather."


@pytest.fixture(params=METHODS.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def world(
    name: str, tmp_path: Path, word_vectors: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    yield World(name, tmp_path, monkeypatch)
    episodes.close_all()


def context(world: World, script: Script | None = None, **more: object) -> Context:
    settings = {"model": register(script or world.player), **world.settings, **more}
    return Context.model_validate(settings)


async def run(
    name: str, world: World, script: Script | None = None, **more: object
) -> WorkingMemory:
    return await ask(name, script or world.player, world.question, **(world.settings | more))


def calls(memory: WorkingMemory) -> int:
    return total_usage(memory["usage"]).calls


def check(name: str, memory: WorkingMemory) -> None:
    """Check what is true at the end of every run."""
    answer = answer_of(memory)
    assert answer["decision"] or answer["why"] or answer["unknown"]
    assert [fact["number"] for fact in memory["facts"]] == [*range(1, len(memory["facts"]) + 1)]
    assert {*answer["facts"]} <= {fact["number"] for fact in memory["facts"]}
    assert {number for turn in memory["turns"] for number in turn["facts"]} <= {
        fact["number"] for fact in memory["facts"]
    }
    last = memory["messages"][-1]
    assert isinstance(last, AIMessage)
    assert (answer["decision"] or answer["why"] or answer["unknown"])[:30] in last.text
    assert {*memory} <= {*get_type_hints(METHODS.get(name).state)}
    json.dumps({key: value for key, value in memory.items() if key != "messages"})


async def test_it_answers_from_facts_that_it_counts_and_cites(name: str, world: World) -> None:
    memory = await run(name, world)
    check(name, memory)
    assert memory["failures"] == []
    assert answer_of(memory)["decision"]
    assert calls(memory) == len(world.player.prompts)
    assert bool(world.player.prompts) is (name not in MODELLESS)
    if name not in ("cot", "direct"):
        assert memory["facts"]


async def test_what_happens_is_reported_as_it_happens(name: str, world: World) -> None:
    given: Any = {"question": world.question}
    run = events(METHODS.get(name).graph, given, context(world), tokens=True)
    found = [event async for event in run]
    answers = [event for event in found if isinstance(event, AnswerEvent)]
    assert answers == found[-1:]
    result = answers[0].result
    check(name, result.memory)
    made = [event.record for event in found if isinstance(event, CallEvent)]
    assert len(made) == len(world.player.prompts) == result.usage.calls
    told = [event.fact["number"] for event in found if isinstance(event, FactEvent)]
    assert sorted(told) == [fact["number"] for fact in result.facts]


@cases({"max_calls": 1}, {"max_tokens": 1}, {"max_seconds": 1e-6}, {"max_iterations": 1})
async def test_a_limit_ends_it_with_an_answer(
    limit: dict[str, Any], name: str, world: World
) -> None:
    memory = await run(name, world, **limit, trials=1)
    check(name, memory)
    assert len(world.player.prompts) <= (6 if name == "ensemble" else 4)  # of two runs


async def test_it_ends_with_its_time_and_waits_for_no_reply(name: str, world: World) -> None:
    over, replied = Event(), list[Prompt]()

    def slow(prompt: Prompt) -> Reply:
        over.wait()
        replied.append(prompt)
        return world.player(prompt)

    try:
        memory = await run(name, world, slow, max_seconds=0.3)
        assert not replied
    finally:
        over.set()
    if name in MODELLESS:
        return
    check(name, memory)
    assert answer_of(memory)["decision"] is None
    assert re.search(r"The budget of [\d.]+ seconds is used up\.", answer_of(memory)["unknown"])
    assert calls(memory) <= (2 if name == "ensemble" else 1)


async def test_malformed_replies_never_end_it(name: str, world: World) -> None:
    memory = await run(name, world, lambda _: BAD, max_iterations=3, trials=1)
    if name in MODELLESS:
        return
    check(name, memory)
    assert {failure["kind"] for failure in memory["failures"]} == {"malformed_reply"}
    assert answer_of(memory)["decision"] is None
    assert answer_of(memory)["unknown"]


async def test_a_run_that_failed_continues_where_it_was(name: str, world: World) -> None:
    wanted = await run(name, world)
    whole = len(world.player.prompts)
    if not whole:
        return
    world.player.prompts.clear()
    down = [True]

    def failing(prompt: Prompt) -> Reply:
        if down and len(world.player.prompts) == min(
            1, whole - 1
        ):  # the second is inside a tool where it reads
            down.pop()
            raise ConnectionError("refused")
        return world.player(prompt)

    graph = METHODS.get(name).compiled(checkpointer=InMemorySaver())
    given, settings = {"question": world.question}, context(world, failing)
    with pytest.raises(ModelUnavailable):
        await graph.ainvoke(given, THREAD, context=settings, durability="sync")
    memory = await graph.ainvoke(None, THREAD, context=settings)
    assert memory["answer"] == wanted["answer"]
    # A member of an ensemble is a separate run, and starts again.
    assert len(world.player.prompts) - whole <= (3 if name == "ensemble" else 0)


async def test_it_stops_before_any_node_and_continues(name: str, world: World) -> None:
    graph = METHODS.get(name).compiled(checkpointer=InMemorySaver(), interrupt_before="*")
    given: Any = {"question": world.question}
    settings, stops = context(world), 0
    while True:
        memory = await graph.ainvoke(given, THREAD, context=settings)
        if not (await graph.aget_state(THREAD)).next:
            break
        given, stops = None, stops + 1
    check(name, memory)
    assert stops >= 3
    assert calls(memory) == len(world.player.prompts)


async def test_a_greeting_is_answered_without_a_call(name: str, world: World) -> None:
    given = {"messages": [HumanMessage("Good morning!")]}
    world.settings = {n: v for n, v in world.settings.items() if not n.startswith("environment")}
    memory = await METHODS.get(name).graph.ainvoke(given, context=context(world))
    assert memory["messages"][-1].text.startswith("Hello!")
    assert (memory["answer"], memory["facts"], world.player.prompts) == (None, [], [])


@cases(
    (" ", {}, "no question"),
    ("Which?", {}, "No database"),
    ("Which?", {"database": "/nowhere/x.db"}, "nowhere"),
)
async def test_what_cannot_be_asked_gets_one_sentence_and_a_fix(
    question: str, settings: dict[str, object], sentence: str, name: str, world: World
) -> None:
    bare = Context.model_validate({"model": register(world.player), **settings})
    with pytest.raises(PlanweaveError, match=sentence) as caught:
        await METHODS.get(name).graph.ainvoke({"question": question}, context=bare)
    assert caught.value.fix
    assert world.player.prompts == []


async def test_an_unknown_model_provider_gets_one_sentence(name: str, world: World) -> None:
    if name not in MODELLESS:
        with pytest.raises(PlanweaveError, match="no model provider"):
            await run(name, world, model="nobody:x")


ELSEWHERE = {
    *("sql", "cypher", "calculator", "thinking", "bound_tool"),  # below
    *("search", "reader", "glossary"),  # of methods that are asked about a database
    *("whole_collection", "whole_reader", "whole_glossary"),
    *("actor", "environment", "reporter"),  # of react, which is not asked to act
    *("greeter", "interpreter", "citation_check"),  # where a task is given
    *("answering_machine", "reflector"),  # of those whose reasoning ends in an answer, or at once
}
"""Nodes that some method does not come to here; each is watched in the run of another."""
THOROUGH: dict[str, Any] = {"evaluations": 1, "replan": "every_observation", "trials": 2}
THOROUGH |= {"citation_check": "model", "max_iterations": 3}
"""Settings with which every role is asked."""


class Watched:
    """A new build of a method that records the input and the update of each node."""

    def __init__(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: set[str] = set()
        monkeypatch.setattr(building, "_with_checks", self._with_checks)
        for part in _KEPT:
            part.cache_clear()  # these are built again, too
        self.method = replace(METHODS.get(name))
        inside = self.method.builder.subgraphs()
        graphs = [self.method.builder, *(part.builder for part in inside.values())]
        self.nodes = {node for graph in graphs for node in graph.nodes} - inside.keys()

    def _with_checks(self, node: str, action: Callable[..., Any], keys: Collection[str]) -> Any:
        @wraps(action)
        async def watched(state: Any, *given: Any, **named: Any) -> Any:
            before = deepcopy(state)
            update = action(state, *given, **named)
            update = await update if isawaitable(update) else update
            assert state == before, f"{node} changes what it is given"
            self.seen.add(node)
            for key, value in (update or {}).items():
                plain = value.value if isinstance(value, Overwrite) else value
                assert key in keys, (node, key)
                assert key == "messages" or json.loads(json.dumps(plain)) == plain, (node, key)
            return update

        return watched


_KEPT = (parts.tools, parts.closing, parts.build_reading)


@pytest.fixture
def watched(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    yield Watched(name, monkeypatch)
    for part in _KEPT:
        part.cache_clear()


@cases("what is right", "nonsense")
async def test_every_node_returns_declared_keys_in_plain_json_and_mutates_nothing(
    says: str, name: str, world: World, watched: Watched
) -> None:
    """In a talk of a greeting and two questions, by search and by reading whole."""
    player = world.player if says == "what is right" else lambda _: BAD
    settings = context(world, player, **THOROUGH)
    graph = watched.method.compiled(checkpointer=InMemorySaver())
    for number, question in enumerate(("Hello!", world.question, world.question, "Else?")):
        if number == 3:
            settings = settings.model_copy(update={"whole_collection": "on"})
        await graph.ainvoke({"question": question}, THREAD, context=settings)
    if says == "what is right":
        assert watched.nodes - watched.seen <= ELSEWHERE


def test_its_graph_shows_what_it_shares_and_no_more_than_its_figure(name: str) -> None:
    method = METHODS.get(name)
    assert method.graph.name == name
    assert method.description.endswith((".", ")"))
    own = {*method.graph.get_graph().nodes}
    assert {"opening", "closing"} < own
    assert len(own) <= 12
    opened = {*method.graph.get_graph(xray=True).nodes}
    assert {"opening:intake", "opening:interpreter", "closing:speaker"} < opened
    if "planner" in own:  # every plan can be approved
        ways = {(edge.source, edge.target) for edge in method.graph.get_graph().edges}
        assert ("planner", "plan_approval") in ways
        assert ("planner", "selector") not in ways


GOOD_AND_BAD: dict[str, tuple[str, str]] = {
    "sql": ("SELECT cost FROM plant WHERE name = 'Bonn'", "DROP TABLE plant"),
    "cypher": ("MATCH (p:Plant {name: 'Bonn'}) RETURN p.cost AS cost", "MATCH (p) DELETE p"),
    "calculator": ("7 + 0.25", "7 / 0"),
    "documents": ("levelised cost", "submarines"),
    BOUND_TOOL: ('{"name": "Bonn"}', '{"nome": "Bonn"}'),
}


APART = ("environment", "thinking", "replan", "finish")
"""They find no facts, or in episodes."""


@tool
def price(name: str) -> float:
    """The price of a plant."""
    return 7.25


@pytest.mark.parametrize("name", ["iter_rag"])
@pytest.mark.parametrize("kind", [*(one for one in OWN_TOOLS if one not in APART), BOUND_TOOL])
async def test_a_tool_makes_a_fact_of_what_is_good_and_a_problem_of_what_is_not(
    kind: str, database: str, graph: str, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TOOLS, "_known", {"price": price})
    put_up(monkeypatch, ("review.pdf", 82, PAGE))
    good, bad = GOOD_AND_BAD[kind]
    used = "price" if kind == BOUND_TOOL else kind
    script = Replies(
        action=[act(used, bad), act(used, good), act("thinking", "So."), act("finish")],
        read=[finding("LCOH) is USD 5.5/kg in 2023", "It costs USD 5.5/kg.")],
        decide=[decide("Bonn", 1)],
        answer=[tell("It costs USD 5.5/kg [1].")],
    )
    sources = {"database": database, "graph": graph, "collection": "energy", "tools": "price"}
    settings = {"model": register(script), "whole_collection": "off", "assist": "off", **sources}
    memory = await watched.method.graph.ainvoke(
        {"question": "Which plant costs 7 + 0.25?"}, context=Context.model_validate(settings)
    )
    wrong, right, _ = memory["turns"]
    assert {"search" if kind == "documents" else kind, "thinking"} <= watched.seen
    assert (wrong["facts"], right["problem"]) == ([], "")
    assert wrong["problem"][:-1].count("\n") == 0
    assert wrong["problem"].endswith((".", "?"))
    assert f"Problem: {wrong['problem']}" in script.prompts[1].text
    assert f"- {used}" in script.prompts[0].text
    (fact,) = memory["facts"]
    assert (fact["number"], fact["source"], right["facts"]) == (1, used, [1])
    assert fact["values"] or fact["quote"]
