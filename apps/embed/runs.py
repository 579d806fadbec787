"""One run of a method for another program: what is asked, how it is carried out, what it says."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from langgraph.types import Command

from planweave import BadInput, PlanweaveError
from planweave.apps.service import Service, service
from planweave.apps.threads import checkpoints, long_term_memory
from planweave.apps.turns import Turns
from planweave.graphs import METHODS
from planweave.graphs.support.events import (
    ActionEvent,
    AnswerEvent,
    ApprovalEvent,
    Event,
    EventReader,
    FactEvent,
    PlanEvent,
    ProblemEvent,
    ReplanEvent,
    Result,
    ThoughtEvent,
    TokenEvent,
)
from planweave.graphs.support.running import belongs, events, graph, subgraphs_of
from planweave.memory import Context
from planweave.nodes.shared.speaker import complete_streamed
from planweave.nodes.support.briefing import plan_text, source_text
from planweave.texts import shorten

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient
    from starlette.requests import Request

_SHOWN = 400
_AGREED = re.compile(r"\W*(y|yes|ok|okay|approve|approved|go|go ahead)\W*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class CallerOrder:
    """What a program asks for."""

    method: str
    messages: Sequence[Mapping[str, str]] = ()  # the question last
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the context; not yet admitted
    thread: str | None = None  # a UUID under which the run is kept; None: it is not
    resume: Any = None  # the decision on what the thread waits for
    tokens: bool = False  # the answer is wanted while it is written

    @property
    def request(self) -> dict[str, Any]:
        """What a server is asked for, in the words of the LangGraph server's protocol."""
        resumes = self.resume is not None
        return {
            "assistant_id": self.method,
            "input": None if resumes else {"messages": [dict(one) for one in self.messages]},
            "command": {"resume": self.resume} if resumes else None,
            "context": dict(self.settings),
            "stream_mode": ["updates", "messages-tuple"] if self.tokens else ["updates"],
            "stream_subgraphs": True,
            "if_not_exists": "reject" if resumes else "create",
        }


class Runner(Protocol):
    """Carries out an order for the sender of the request, or refuses it by a ``PlanweaveError``.

    Gives the events of the run as they come; the last one is what a person is asked, or the answer.
    """

    def __call__(self, order: CallerOrder, request: "Request | None", /) -> AsyncGenerator[Event]:
        """Carry out an order."""


class RunFailed(PlanweaveError):
    """A run that ended with an error on the server that carried it out."""


Streamed: TypeAlias = tuple[str, Any]
"""A part of a server's stream: its mode with the subgraphs it comes from, and what it holds."""


async def read(order: CallerOrder, parts: AsyncGenerator[Streamed]) -> AsyncGenerator[Event]:
    """The events of a run that a server streams; an error that it ended with is raised."""
    reader, happened, failed = EventReader(order.method, order.thread), False, None
    async with aclosing(parts):
        async for name, data in parts:
            mode, *space = name.split("|")
            failed = data if mode == "error" else failed  # the stream ends with it
            happened = happened or mode == "updates"
            for event in reader.read(mode, data, space):
                yield event
    if failed:
        kind = BadInput if failed.get("error") == BadInput.__name__ else RunFailed
        raise kind(str(failed.get("message") or failed.get("error")))
    if order.resume is not None and not happened:
        raise _nothing_waits()
    yield reader.end()


def _nothing_waits() -> BadInput:
    return BadInput("Nothing waits for an answer there.", fix="Ask the question again.")


def in_process(offered: Callable[[], Service] = service) -> Runner:
    """Make the runner that carries orders out in this process, for one person.

    Those of one thread take turns.
    """
    turns = Turns()

    async def run(order: CallerOrder, _request: "Request | None" = None) -> AsyncGenerator[Event]:
        offer = await asyncio.to_thread(offered)
        offer.offers(order.method)
        context = offer.admit(order.settings)
        turn = turns.of(order.thread) if order.thread else nullcontext()
        kept = checkpoints() if order.thread else nullcontext()
        async with turn, long_term_memory() as store, kept as saver:
            compiled = await asyncio.to_thread(graph, order.method, checkpointer=saver, store=store)
            place: Any = {"configurable": {"thread_id": order.thread}}
            if order.resume is not None and not (await compiled.aget_state(place)).interrupts:
                raise _nothing_waits()
            how: dict[str, Any] = {"tokens": order.tokens}
            how |= {"durability": "exit"} if order.thread else {}
            asked = order.request
            given = Command(resume=order.resume) if asked["command"] else asked["input"]
            run = events(compiled, given, context, thread=order.thread, **how)
            async with aclosing(run):
                async for event in run:
                    yield event

    return run


def waits_for_person(settings: Mapping[str, Any], context: Context) -> bool:
    """Whether a run with a caller's settings, or else the operator's, stops for an approval."""
    asks = ("approve", "approve_tools")
    return any(settings.get(name, getattr(context, name)) for name in asks)


def decision(text: str) -> Mapping[str, Any]:
    """What a person decided: a decision as JSON, a word of consent, or what is to be changed."""
    if _AGREED.fullmatch(text):
        return {"type": "approve"}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or "type" not in found:
        return {"type": "respond", "message": text}
    if "plan" in found:
        edited = {"name": "carry_out_plan", "args": {"plan": found["plan"]}}
        return {"type": "edit", "edited_action": edited}
    return found


def over_protocol(
    connect: Callable[[], "LangGraphClient"], offered: Callable[[], Service] = service
) -> Runner:
    """Make the runner that hands orders of one person to a LangGraph server (``langgraph dev``).

    That takes any settings; the names and the settings of the service file are known, too.
    """
    client = cache(connect)

    async def run(order: CallerOrder, _request: "Request | None" = None) -> AsyncGenerator[Event]:
        from langgraph_sdk.errors import APIStatusError

        known = subgraphs_of((await asyncio.to_thread(METHODS.get, order.method)).builder)
        context = offered().trusted(order.settings).model_dump(mode="json", exclude_defaults=True)
        asked = order.request | {"context": context}

        async def own_parts() -> AsyncGenerator[Streamed]:
            runs: Any = client().runs  # its types allow no thread that may be None
            async for part in runs.stream(order.thread, **asked, on_disconnect="cancel"):
                if belongs(part.event.split("|")[1:], known):
                    yield part.event, part.data

        try:
            async with aclosing(read(order, own_parts())) as found:
                async for event in found:
                    yield event
        except APIStatusError as error:
            refused = BadInput if error.status_code < 500 else RunFailed
            raise refused(f"The server answered: {error}") from error

    return run


@dataclass
class RunOutcome:
    """What a run has come to so far."""

    result: Result = field(default_factory=lambda: Result(method="", memory={}))
    request: Mapping[str, Any] | None = None  # what a person is asked, as LangChain asks it
    asked: str = ""  # the id of that request
    _draft: str = ""

    def take(self, event: Event) -> str:
        """Take up one event of the run; returns what happened in it as text, or nothing."""
        if isinstance(event, AnswerEvent | ApprovalEvent):
            self.result = event.result
        if isinstance(event, ApprovalEvent):
            self.request, self.asked = event.request, event.id
        if isinstance(event, TokenEvent):
            self._draft += event.text
        return _text(event)

    @property
    def rest(self) -> str:
        """What is left to say after the pieces that came while the answer was written."""
        if not self._draft or self.result.answer is None:
            return self.result.text
        return complete_streamed(self._draft, self.result.answer, self.result.facts)

    @property
    def cited(self) -> list[dict[str, Any]]:
        """The facts that the answer cites, with their sources, as far as this run found them."""
        return [
            {"number": fact["number"], "text": fact["text"], "source": source_text(fact)}
            for fact in self.result.cited
        ]


class CallerGone(PlanweaveError):
    """Nobody waits for the answer any more."""


async def awaited(run: Runner, order: CallerOrder, request: "Request") -> RunOutcome:
    """What a run comes to; it ends when its caller goes."""
    outcome = RunOutcome()

    async def carry_out() -> None:
        async with aclosing(run(order, request)) as events:
            async for event in events:
                outcome.take(event)

    async def leave() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    work, gone = asyncio.create_task(carry_out()), asyncio.create_task(leave())
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise CallerGone("The caller has gone.")
        await work
    finally:
        work.cancel()
        gone.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)
    return outcome


def _text(event: Event) -> str:
    """What has happened, in lines for a person."""
    text = ""
    match event:
        case PlanEvent(steps=steps):
            text = f"Plan:\n{plan_text(steps)}"
        case ReplanEvent(reason=reason, steps=steps):
            text = f"New plan: {reason}\n{plan_text(steps)}"
        case ThoughtEvent(text=thought):
            text = thought
        case ActionEvent(tool=tool, input=given):
            text = f"{tool}: {given}"
        case ProblemEvent(text=problem):
            text = f"Problem: {problem}"
        case FactEvent(fact=fact):
            text = f"[{fact['number']}] {shorten(fact['text'], _SHOWN)}"
    return text
