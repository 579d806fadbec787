"""Carries a thread to its end: runs the graph, asks a person, keeps checkpoints."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, aclosing, contextmanager
from inspect import isawaitable
from typing import Any, TypeAlias

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planweave import BadInput
from planweave.apps.sqlite_file import unusable
from planweave.apps.threads import (
    Thread,
    being_worked_on,
    checkpoints,
    long_term_memory,
    threads_folder,
)
from planweave.graphs.support.events import AnswerEvent, ApprovalEvent, Event, Result
from planweave.graphs.support.running import Graph, events, graph
from planweave.memory import Context, Input
from planweave.models import is_script, new_script, registered
from planweave.nodes.deciding.plan_approval import UNUSABLE

Decisions: TypeAlias = Mapping[str, Any]
Ask: TypeAlias = Callable[[Mapping[str, Any]], Decisions | Awaitable[Decisions]]
"""Takes what the graph asks a person, and returns the decisions to resume with."""

_MOST_UNUSABLE = 2
"""Answers in a row that a person may correct; a function may give the same for ever."""


async def run(
    thread: Thread,
    start: Input | None,
    *,
    ask: Ask | None = None,
    kept: bool = True,
    tokens: bool = False,
) -> AsyncGenerator[Event]:
    """Ask a thread a question, or continue it if it was interrupted; gives what happens.

    A thread that has ended stays as it is. Without ``ask`` the run ends where it waits for a
    person. ``kept``: in the state folder. ``tokens``: pieces of replies are reported, too.
    """
    try:
        waits = thread.context.approve or thread.context.approve_tools
        async with AsyncExitStack() as opened:
            saver: Any = InMemorySaver() if waits else None
            store = None
            if kept:
                opened.enter_context(being_worked_on(thread.id))
                saver = await opened.enter_async_context(checkpoints())
                store = await opened.enter_async_context(long_term_memory())
            context = opened.enter_context(_scripts_begin(thread.context))
            compiled = await asyncio.to_thread(
                graph, thread.method, checkpointer=saver, store=store
            )
            how: dict[str, Any] = {"tokens": tokens}
            if kept:
                how |= {"thread": thread.id, "durability": "sync"}
            elif saver:
                how["config"] = {"configurable": {"thread_id": thread.id}}
            steps = _steps(compiled, thread, start, context, ask, how)
            async with aclosing(steps):
                async for event in steps:
                    yield event
    except sqlite3.Error as error:  # of a part that was sound when the files were opened
        if "full" in str(error):
            raise
        raise unusable(threads_folder(), error) from None


async def _steps(
    compiled: Graph,
    thread: Thread,
    start: Input | None,
    context: Context,
    ask: Ask | None,
    how: dict[str, Any],
) -> AsyncGenerator[Event]:
    given: Input | Command[Any] | None = start
    if start is None:
        snapshot = await compiled.aget_state({"configurable": {"thread_id": thread.id}})
        if not snapshot.next and snapshot.values.get("messages"):  # it has ended unseen, or again
            memory: Any = snapshot.values
            result = Result(method=thread.method, thread=thread.id, memory=memory)
            yield AnswerEvent(result=result)
            return
        given = await _resumption(snapshot, thread, ask)
    unusable = 0
    while True:
        request: Mapping[str, Any] | None = None
        run = events(compiled, given, context, **how)
        async with aclosing(run):
            async for event in run:
                if isinstance(event, ApprovalEvent) and ask:
                    request = event.request
                else:
                    yield event
        if request is None or ask is None:
            return
        asks = str(request["action_requests"][0]["description"])
        unusable = unusable + 1 if asks.startswith(UNUSABLE) else 0
        answer: object = await _decided(ask, request)
        if unusable == _MOST_UNUSABLE or not isinstance(answer, Mapping) or not answer:
            raise BadInput(
                f"The decision {answer!r} cannot be used.",
                fix='An approval is {"decisions": [{"type": "approve"}]}.',
            )
        given = Command(resume=answer)


async def _resumption(snapshot: Any, thread: Thread, ask: Ask | None) -> Command[Any] | None:
    if not snapshot.next:
        raise BadInput(
            f"The thread {thread.id!r} has nothing left to do.",
            fix="Ask a further question in it, or a new one without --resume.",
        )
    if snapshot.interrupts and ask:
        return Command(resume=await _decided(ask, snapshot.interrupts[0].value))
    return None


async def _decided(ask: Ask, request: Mapping[str, Any]) -> Decisions:
    answer = await asyncio.to_thread(ask, request)
    return await answer if isawaitable(answer) else answer


@contextmanager
def _scripts_begin(context: Context) -> Iterator[Context]:
    """The settings for one run, in which every script begins with its first reply."""
    with ExitStack() as known:
        scripts = {
            name: known.enter_context(registered(new_script(name)))
            for name in {context.model, *context.models.values()}
            if is_script(name)
        }
        models = {role: scripts.get(name, name) for role, name in context.models.items()}
        model = scripts.get(context.model, context.model)
        yield context.model_copy(update={"model": model, "models": models})
