"""One run of a method for another program: its order, its execution and its outcome."""

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
from planweave.apps.locks import NamedLocks
from planweave.apps.server.errors import NothingWaits
from planweave.apps.service import Service, service
from planweave.apps.threads import checkpoints, long_term_memory
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
from planweave.graphs.support.running import (
    belongs,
    check_order,
    events,
    graph,
    subgraphs_of,
)
from planweave.memory import Context
from planweave.nodes.shared.speaker import complete_streamed
from planweave.nodes.support.briefing import plan_text, source_text
from planweave.texts import shorten
from planweave.tools.database import DatabaseMissing

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient
    from starlette.requests import Request

_SHOWN = 400
_CONSENT = re.compile(r"\W*(y|yes|ok|okay|approve|approved|go|go ahead)\W*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class CallerOrder:
    """The run that a program requests."""

    method: str
    messages: Sequence[Mapping[str, str]] = ()  # the question is the last
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the context, not yet checked
    thread: str | None = None  # a UUID under which the run is saved; None: it is not saved
    resume: Any = None  # the decision that the thread waits for
    tokens: bool = False  # report the answer while it is written

    @property
    def request(self) -> dict[str, Any]:
        """The order as a request of the LangGraph server's protocol."""
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
    """Runs an order for the sender of the request, or raises a ``PlanweaveError``.

    Yields the events of the run; the last one is the answer or a request to a person.
    """

    def __call__(self, order: CallerOrder, request: "Request | None", /) -> AsyncGenerator[Event]:
        """Run an order."""


class RunFailed(PlanweaveError):
    """A run that ended with an error on the server that carried it out."""


Streamed: TypeAlias = tuple[str, Any]
"""A part of a server's stream: its mode with the subgraphs it comes from, and its data."""


async def read_events(order: CallerOrder, parts: AsyncGenerator[Streamed]) -> AsyncGenerator[Event]:
    """Yield the events of a run that a server streams; raise the error that ended the run."""
    reader, has_updates, error = EventReader(order.method, order.thread), False, None
    async with aclosing(parts):
        async for name, data in parts:
            mode, *space = name.split("|")
            error = data if mode == "error" else error  # the stream ends with it
            has_updates = has_updates or mode == "updates"
            for event in reader.read(mode, data, space):
                yield event
    if error:
        kind = BadInput if error.get("error") == BadInput.__name__ else RunFailed
        raise kind(str(error.get("message") or error.get("error")))
    if order.resume is not None and not has_updates:
        raise NothingWaits
    yield reader.end()


def in_process(offered: Callable[[], Service] = service) -> Runner:
    """Make a runner for one person in this process; orders of one thread run one at a time."""
    locks = NamedLocks()

    async def run(order: CallerOrder, _: "Request | None" = None) -> AsyncGenerator[Event]:
        service = await asyncio.to_thread(offered)
        service.check_offered(order.method)
        context = service.admit(order.settings)
        await asyncio.to_thread(check_order, order.method, context, with_plan=False)
        lock = locks.get(order.thread) if order.thread else nullcontext()
        kept = checkpoints() if order.thread else nullcontext()
        async with lock, long_term_memory() as store, kept as saver:
            compiled = await asyncio.to_thread(graph, order.method, checkpointer=saver, store=store)
            place: Any = {"configurable": {"thread_id": order.thread}}
            if order.resume is not None and not (await compiled.aget_state(place)).interrupts:
                raise NothingWaits
            options: dict[str, Any] = {"tokens": order.tokens}
            options |= {"durability": "exit"} if order.thread else {}
            request = order.request
            given = Command(resume=order.resume) if request["command"] else request["input"]
            run = events(compiled, given, context, thread=order.thread, **options)
            try:
                async with aclosing(run):
                    async for event in run:
                        yield event
            except DatabaseMissing as error:
                raise error.of_operator() from None

    return run


def waits_for_person(settings: Mapping[str, Any], context: Context) -> bool:
    """Whether a run stops for an approval, by the caller's settings or else the operator's."""
    names = ("approve", "approve_tools")
    return any(settings.get(name, getattr(context, name)) for name in names)


def parse_decision(text: str) -> Mapping[str, Any]:
    """Parse a person's decision: JSON, a word of consent, or the changes that they want."""
    if _CONSENT.fullmatch(text):
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
    """Make a runner that sends one person's orders to a LangGraph server (``langgraph dev``).

    It accepts any settings, and the names and settings of the service file.
    """
    client = cache(connect)

    async def run(order: CallerOrder, _: "Request | None" = None) -> AsyncGenerator[Event]:
        from langgraph_sdk.errors import APIStatusError

        known = subgraphs_of((await asyncio.to_thread(METHODS.get, order.method)).builder)
        context = offered().trusted(order.settings).model_dump(mode="json", exclude_defaults=True)
        request = order.request | {"context": context}

        async def parts_of_method() -> AsyncGenerator[Streamed]:
            runs: Any = client().runs  # its types allow no thread that may be None
            async for part in runs.stream(order.thread, **request, on_disconnect="cancel"):
                if belongs(part.event.split("|")[1:], known):
                    yield part.event, part.data

        try:
            async with aclosing(read_events(order, parts_of_method())) as found:
                async for event in found:
                    yield event
        except APIStatusError as error:
            kind = BadInput if error.status_code < 500 else RunFailed
            raise kind(f"The server answered: {error}") from error

    return run


@dataclass
class RunOutcome:
    """The outcome of a run so far."""

    result: Result = field(default_factory=lambda: Result(method="", memory={}))
    request: Mapping[str, Any] | None = None  # request to a person, in LangChain's format
    request_id: str = ""
    _draft: str = ""

    def add(self, event: Event) -> str:
        """Add one event of the run; return it as text for a person, empty if it has none."""
        if isinstance(event, AnswerEvent | ApprovalEvent):
            self.result = event.result
        if isinstance(event, ApprovalEvent):
            self.request, self.request_id = event.request, event.id
        if isinstance(event, TokenEvent):
            self._draft += event.text
        return _text(event)

    @property
    def rest(self) -> str:
        """The rest of the answer after the parts that were reported while it was written."""
        if not self._draft or self.result.answer is None:
            return self.result.text
        return complete_streamed(self._draft, self.result.answer, self.result.facts)

    @property
    def cited(self) -> list[dict[str, Any]]:
        """The facts that the answer cites, with their sources, if this run found them."""
        return [
            {"number": fact["number"], "text": fact["text"], "source": source_text(fact)}
            for fact in self.result.cited
        ]


class CallerGone(PlanweaveError):
    """The caller disconnected before the answer."""


async def wait_for_outcome(run: Runner, order: CallerOrder, request: "Request") -> RunOutcome:
    """Run an order to its end and return its outcome; cancel it when the caller disconnects."""
    outcome = RunOutcome()

    async def carry_out() -> None:
        async with aclosing(run(order, request)) as events:
            async for event in events:
                outcome.add(event)

    async def wait_for_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    work, gone = asyncio.create_task(carry_out()), asyncio.create_task(wait_for_disconnect())
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise CallerGone("The caller has disconnected.")
        await work
    finally:
        work.cancel()
        gone.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)
    return outcome


def _text(event: Event) -> str:
    """An event as text for a person."""
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
