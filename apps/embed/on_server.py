"""Orders carried out by ``planweave serve``: queued, counted and kept like all runs there."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any

from starlette.requests import Request

from planweave.apps.embed.runs import Order, RunFailed, failed, nothing_waits
from planweave.apps.server.engine import Engine
from planweave.apps.server.errors import NotFound
from planweave.apps.server.people import Person
from planweave.apps.server.requests import Resumption, RunRequest
from planweave.apps.server.routes.asked import engine, person
from planweave.apps.server.wire import decode
from planweave.graphs.support.events import Event, Reader


async def on_server(order: Order, request: Request | None) -> AsyncGenerator[Event]:
    """Carry out an order as the person who sent the request (see ``Runner``).

    A caller who goes away ends the run.
    """
    if request is None:
        raise RuntimeError("Only a request says whose order it is.")
    worker, who = engine(request), person(request)
    run = await worker.submit(who, order.thread, _asked(order))
    reader, happened = Reader(order.method, order.thread), False
    try:
        async for part in worker.follow(run):
            if part is not None and part.name == "error":
                raise failed(decode(part.data))
            mode, *space = part.name.split("|") if part is not None else [""]
            if part is not None and mode in ("updates", "messages"):
                happened = happened or mode == "updates"
                for event in reader.read(mode, decode(part.data), space):
                    yield event
    except (asyncio.CancelledError, GeneratorExit):
        if not worker.draining:
            worker.aside(_end(worker, who, run))
        raise
    left = await worker.runs.get(who.owner, run["thread_id"], run["run_id"])
    if left["status"] in ("pending", "running"):
        raise RunFailed("The server is about to stop.", fix="Ask again in a moment.")
    if order.resume is not None and not happened:
        raise nothing_waits()
    yield reader.end()


def _asked(order: Order) -> RunRequest:
    resumes = order.resume is not None
    return RunRequest(
        assistant_id=order.method,
        input=None if resumes else {"messages": [dict(message) for message in order.messages]},
        command=Resumption(resume=order.resume) if resumes else None,
        context=dict(order.settings),
        stream_mode=[*order.stream_modes],
        stream_subgraphs=True,
        if_not_exists="reject" if resumes else "create",
    )


async def _end(worker: Engine, who: Person, run: Mapping[str, Any]) -> None:
    with suppress(NotFound):  # it has ended by itself
        await worker.cancel(who, run["thread_id"], run["run_id"])
