"""Run a thread to its end: run the graph, ask a person, save checkpoints."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, aclosing, contextmanager
from inspect import isawaitable
from typing import Any, TypeAlias

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planweave import BadInput
from planweave.apps.sqlite_file import error_for
from planweave.apps.threads import (
    Thread,
    checkpoints,
    lock_thread,
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
"""Takes the graph's request to a person, and returns the decisions to resume with."""

_MAX_UNUSABLE = 2
"""Unusable answers in a row after which the run fails: a function may repeat its answer."""


async def run(
    thread: Thread,
    start: Input | None,
    *,
    ask: Ask | None = None,
    kept: bool = True,
    tokens: bool = False,
) -> AsyncGenerator[Event]:
    """Ask a thread a question, or continue an interrupted thread; yield the events.

    A thread that has ended does not change. Without ``ask``, the run ends when it waits for a
    person. With ``kept``, the thread is saved in the state folder. With ``tokens``, parts of
    replies are reported, too.
    """
    try:
        can_wait = thread.context.approve or thread.context.approve_tools
        async with AsyncExitStack() as opened:
            saver: Any = InMemorySaver() if can_wait else None
            store = None
            if kept:
                opened.enter_context(lock_thread(thread.id))
                saver = await opened.enter_async_context(checkpoints())
                store = await opened.enter_async_context(long_term_memory())
            context = opened.enter_context(_restart_scripts(thread.context))
            compiled = await asyncio.to_thread(
                graph, thread.method, checkpointer=saver, store=store
            )
            options: dict[str, Any] = {"tokens": tokens}
            if kept:
                options |= {"thread": thread.id, "durability": "sync"}
            elif saver:
                options["config"] = {"configurable": {"thread_id": thread.id}}
            steps = _steps(compiled, thread, start, context, ask, options)
            async with aclosing(steps):
                async for event in steps:
                    yield event
    except sqlite3.Error as error:  # damage that the check at opening did not reach
        if "full" in str(error):
            raise
        raise error_for(threads_folder(), error) from None


async def _steps(
    compiled: Graph,
    thread: Thread,
    start: Input | None,
    context: Context,
    ask: Ask | None,
    options: dict[str, Any],
) -> AsyncGenerator[Event]:
    given: Input | Command[Any] | None = start
    if start is None:
        snapshot = await compiled.aget_state({"configurable": {"thread_id": thread.id}})
        if not snapshot.next and snapshot.values.get("messages"):  # it has ended already
            memory: Any = snapshot.values
            result = Result(method=thread.method, thread=thread.id, memory=memory)
            yield AnswerEvent(result=result)
            return
        given = await _resume_command(snapshot, thread, ask)
    unusable_count = 0
    while True:
        request: Mapping[str, Any] | None = None
        run = events(compiled, given, context, **options)
        async with aclosing(run):
            async for event in run:
                if isinstance(event, ApprovalEvent) and ask:
                    request = event.request
                else:
                    yield event
        if request is None or ask is None:
            return
        description = str(request["action_requests"][0]["description"])
        unusable_count = unusable_count + 1 if description.startswith(UNUSABLE) else 0
        answer: object = await _ask_person(ask, request)
        if unusable_count == _MAX_UNUSABLE or not isinstance(answer, Mapping) or not answer:
            raise BadInput(
                f"The decision {answer!r} cannot be used.",
                fix='An approval is {"decisions": [{"type": "approve"}]}.',
            )
        given = Command(resume=answer)


async def _resume_command(snapshot: Any, thread: Thread, ask: Ask | None) -> Command[Any] | None:
    if not snapshot.next:
        raise BadInput(
            f"The thread {thread.id!r} has nothing left to do.",
            fix="Ask a further question in it, or a new one without --resume.",
        )
    if snapshot.interrupts and ask:
        return Command(resume=await _ask_person(ask, snapshot.interrupts[0].value))
    return None


async def _ask_person(ask: Ask, request: Mapping[str, Any]) -> Decisions:
    answer = await asyncio.to_thread(ask, request)
    return await answer if isawaitable(answer) else answer


@contextmanager
def _restart_scripts(context: Context) -> Iterator[Context]:
    """Yield the context for one run, in which every script starts with its first reply."""
    with ExitStack() as stack:
        scripts = {
            name: stack.enter_context(registered(new_script(name)))
            for name in {context.model, *context.models.values()}
            if is_script(name)
        }
        models = {role: scripts.get(name, name) for role, name in context.models.items()}
        model = scripts.get(context.model, context.model)
        yield context.model_copy(update={"model": model, "models": models})
