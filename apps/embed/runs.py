"""One run of a method for another program: what is asked, how it is carried out, what it says."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from langgraph.types import Command, Overwrite

from planweave import BadInput, PlanweaveError
from planweave.apps.service import Service, service
from planweave.apps.threads import checkpoints, long_term_memory
from planweave.graphs import METHODS
from planweave.graphs.edges import RECURSION_LIMIT
from planweave.memory import Answer, Fact, add_usage, total_usage
from planweave.nodes.briefing import plan_text, source_text
from planweave.usage import Usage

if TYPE_CHECKING:
    from langgraph_sdk.client import LangGraphClient
    from starlette.requests import Request

_SHOWN = 400
_AGREED = re.compile(r"\W*(y|yes|ok|okay|approve|approved|go|go ahead)\W*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a program asks for.

    Attributes:
        method: Name of the method.
        messages: The conversation as ``{"role", "content"}``, the question last.
        settings: Fields of the context that the caller sets; not yet admitted.
        thread: A UUID under which the run is kept, so that it can be gone on with; None: it is not.
        resume: The decision on what the thread waits for, in place of messages.
    """

    method: str
    messages: Sequence[Mapping[str, str]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    thread: str | None = None
    resume: Any = None


class Runner(Protocol):
    """Carries out an order for whoever sent the request.

    Gives the updates of the graph's nodes as they come, as LangGraph streams them: each a mapping
    from a node's name to its update, or from ``__interrupt__`` to what a person is asked.

    Raises:
        PlanweaveError: The order is refused, or the run cannot go on.
    """

    def __call__(
        self, order: Order, request: "Request | None", /
    ) -> AsyncGenerator[Mapping[str, Any]]:
        """Carry out an order."""


class RunFailed(PlanweaveError):
    """A run that ended with an error on the server that carried it out."""


def failed(told: Mapping[str, Any]) -> PlanweaveError:
    """The error that a server told of as the end of a run."""
    kind = BadInput if told.get("error") == BadInput.__name__ else RunFailed
    return kind(str(told.get("message") or told.get("error")))


def nothing_waits() -> BadInput:
    """What is said to an answer that nobody has asked for."""
    return BadInput("Nothing waits for an answer there.", mend="Ask the question again.")


def in_process(offered: Callable[[], Service] = service) -> Runner:
    """Make the runner that carries orders out in this process, for one person.

    Args:
        offered: What a caller may ask for.
    """

    async def run(
        order: Order, _request: "Request | None" = None
    ) -> AsyncGenerator[Mapping[str, Any]]:
        offer = await asyncio.to_thread(offered)
        offer.offers(order.method)
        context = offer.admit(order.settings)
        method = await asyncio.to_thread(METHODS.get, order.method)
        kept = checkpoints() if order.thread else nullcontext()
        async with long_term_memory() as store, kept as saver:
            graph = method.compiled(checkpointer=saver, store=store)
            config = {
                "configurable": {"thread_id": order.thread},
                "recursion_limit": RECURSION_LIMIT,
            }
            if order.resume is not None and not (await graph.aget_state(config)).interrupts:
                raise nothing_waits()
            durability: Any = "exit" if saver else None
            async for update in graph.astream(
                _given(order), config, context=context, stream_mode="updates", durability=durability
            ):
                yield update

    return run


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


def over_protocol(connect: Callable[[], "LangGraphClient"]) -> Runner:
    """Make the runner that hands orders to a LangGraph server, such as ``langgraph dev``.

    Args:
        connect: Gives the client, asked for once, with the first order.
    """
    client = cache(connect)

    async def run(
        order: Order, _request: "Request | None" = None
    ) -> AsyncGenerator[Mapping[str, Any]]:
        from langgraph_sdk.errors import APIStatusError

        happened = False
        try:
            async for part in _streamed(client(), order):
                if part.event == "error":
                    raise failed(part.data)
                if part.event == "updates":
                    happened = True
                    yield part.data
        except APIStatusError as error:
            refused = BadInput if error.status_code < 500 else RunFailed
            raise refused(f"The server answered: {error}") from error
        if order.resume is not None and not happened:
            raise nothing_waits()

    return run


def _streamed(client: "LangGraphClient", order: Order) -> AsyncIterator[Any]:
    resumes = order.resume is not None
    runs: Any = client.runs  # its types allow no thread that may be None
    stream: AsyncIterator[Any] = runs.stream(
        order.thread,
        order.method,
        input=None if resumes else {"messages": list(order.messages)},
        command={"resume": order.resume} if resumes else None,
        context=dict(order.settings),
        stream_mode=["updates"],
        if_not_exists="reject" if resumes else "create",
        on_disconnect="cancel",
    )
    return stream


def _given(order: Order) -> Any:
    if order.resume is not None:
        return Command(resume=order.resume)
    return {"messages": [dict(message) for message in order.messages]}


@dataclass
class Outcome:
    """What a run has come to so far.

    Attributes:
        text: What it says in the chat.
        request: What a person is asked before it goes on, in the form of LangChain's chat pages.
        answer: The answer with the facts that it cites.
        facts: The facts that this run has found.
        usage: What its model calls used.
    """

    text: str = ""
    request: Mapping[str, Any] | None = None
    answer: Answer | None = None
    facts: list[Fact] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    @property
    def cited(self) -> list[dict[str, Any]]:
        """The facts that the answer cites, with their sources, as far as this run found them."""
        numbers = self.answer["facts"] if self.answer else []
        return [
            {"number": fact["number"], "text": fact["text"], "source": source_text(fact)}
            for fact in self.facts
            if fact["number"] in numbers
        ]

    def take(self, updates: Mapping[str, Any]) -> str:
        """Take up one update of the stream; returns what happened in it as text, or nothing."""
        lines: list[str] = []
        for node, found in updates.items():
            if node == "__interrupt__":
                self.request = _value(found[0])
                continue
            if node == "intake":  # it only empties the working memory for the question
                continue
            for update in found if isinstance(found, list) else [found or {}]:
                self._note(update)
                lines += _told(update)
        return "\n".join(lines)

    def _note(self, update: Mapping[str, Any]) -> None:
        for message in update.get("messages") or ():
            kind, text = _message(message)
            self.text = text if kind == "ai" else self.text
        self.answer = update.get("answer") or self.answer
        facts = update.get("facts")
        if (afresh := _overwriting(facts)) is not None:
            self.facts = afresh
        else:
            self.facts = self.facts + (facts or [])
        self.usage += total_usage(add_usage({}, update.get("usage") or {}))


def _overwriting(facts: Any) -> list[Fact] | None:
    """The facts that replace all before, from the object or from what a server made of it."""
    if isinstance(facts, Overwrite):
        return list(facts.value)
    return list(facts.get("value") or []) if isinstance(facts, Mapping) else None


def _value(interrupted: Any) -> Any:
    """What an interrupt asks, from the object or from what a server made of it."""
    return interrupted["value"] if isinstance(interrupted, Mapping) else interrupted.value


def _message(message: Any) -> tuple[str, str]:
    """Kind and text of a message, from the object or from what a server made of it."""
    if isinstance(message, Mapping):
        return str(message.get("type")), str(message.get("content"))
    return message.type, message.text


def _told(update: Mapping[str, Any]) -> list[str]:
    """What one node has done, in lines for a person."""
    lines = []
    if plan := update.get("plan"):
        lines += ["Plan:", plan_text(plan)]
    if action := update.get("action"):
        lines.append(action["thought"])
    for turn in update.get("turns") or ():
        lines.append(f"{turn['tool']}: {turn['input']}")
        if turn["problem"]:
            lines.append(f"Problem: {turn['problem']}")
    facts = update.get("facts")
    replaced = _overwriting(facts)
    for fact in (facts or ()) if replaced is None else replaced:
        text = fact["text"]
        lines.append(f"[{fact['number']}] {text[:_SHOWN]}{' …' if len(text) > _SHOWN else ''}")
    return [line for line in lines if line]
