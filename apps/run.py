"""Carries a thread to its end: streams the graph, stops for a person, keeps checkpoints."""

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any, cast

from langgraph.types import Command
from rich.console import Console

from planweave import BadInput
from planweave.apps.sqlite_file import unusable
from planweave.apps.story import Story
from planweave.apps.threads import (
    Thread,
    being_worked_on,
    checkpoints,
    long_term_memory,
    threads_folder,
)
from planweave.graphs import METHODS
from planweave.graphs.edges import RECURSION_LIMIT
from planweave.memory import Input, WorkingMemory

Ask = Callable[[dict[str, Any]], dict[str, Any]]
"""Shows a person what the graph asks for and returns the decision to resume with."""


async def run(thread: Thread, start: Input | None, console: Console, ask: Ask) -> WorkingMemory:
    """Put ``start`` to a thread, or go on with an interrupted one when it is None.

    A thread that has ended is as it ended.

    Raises:
        BadInput: There is nothing to go on with, or another process works on the thread.
        PlanweaveError: The run cannot go on (no model, no database).
    """
    try:
        with being_worked_on(thread.id):
            return await _carried_out(thread, start, console, ask)
    except sqlite3.Error as error:  # of a part that was sound when the files were opened
        if "full" in str(error):
            raise
        raise unusable(threads_folder(), error) from None


async def _carried_out(
    thread: Thread, start: Input | None, console: Console, ask: Ask
) -> WorkingMemory:
    story = Story(console)
    async with checkpoints() as saver, long_term_memory() as store:
        graph = METHODS.get(thread.method).compiled(checkpointer=saver, store=store)
        config = {"configurable": {"thread_id": thread.id}, "recursion_limit": RECURSION_LIMIT}
        given: Input | Command[Any] | None = start
        if start is None:
            snapshot = await graph.aget_state(config)
            if not snapshot.next and snapshot.values.get("messages"):
                return cast("WorkingMemory", snapshot.values)  # its end was not seen, or is again
            given = await _resumption(snapshot, thread, ask)
        while True:
            request = await _stream(graph, given, config, thread, story)
            if request is None:
                break
            given = Command(resume=await asyncio.to_thread(ask, request))
        return cast("WorkingMemory", (await graph.aget_state(config)).values)


async def _stream(graph: Any, given: Any, config: Any, thread: Thread, story: Story) -> Any:
    """Stream until the end (None) or until the graph asks a person (the request)."""
    request = None
    with story.console.status("working …") as status:
        async for mode, chunk in graph.astream(
            given,
            config,
            context=thread.context,
            stream_mode=["updates", "custom"],
            durability="sync",
        ):
            if mode == "custom":
                status.update(f"{chunk['call']['role']} answered; working …")
                continue
            for node, update in chunk.items():
                if node == "__interrupt__":
                    request = update[0].value
                else:
                    story.tell(node, update or {})
    return request


async def _resumption(snapshot: Any, thread: Thread, ask: Ask) -> Command[Any] | None:
    if not snapshot.next:
        raise BadInput(
            f"The thread {thread.id!r} has nothing left to do.",
            mend="Ask a further question in it, or a new one without --resume.",
        )
    if snapshot.interrupts:
        return Command(resume=await asyncio.to_thread(ask, snapshot.interrupts[0].value))
    return None
