"""Run orders on ``planweave serve``: queued, counted and saved like all its runs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from starlette.requests import Request

from planweave.apps.protocols.runs import CallerOrder, RunFailed, Streamed, read_events
from planweave.apps.server.engine import Engine
from planweave.apps.server.people import Person
from planweave.apps.server.requests import RunRequest
from planweave.apps.server.routes.common import engine, person
from planweave.apps.server.wire import decode
from planweave.graphs.support.events import Event


async def on_server(order: CallerOrder, request: Request | None) -> AsyncGenerator[Event]:
    """Run an order for the person who sent the request (see ``Runner``).

    The run ends when the caller disconnects. Of several answers to one approval, the first counts.
    """
    if request is None:
        raise RuntimeError("Without a request, the person of an order is unknown.")
    worker, who = engine(request), person(request)
    strategy = "enqueue" if order.resume is None else "reject"
    asked = RunRequest.model_validate(order.request | {"multitask_strategy": strategy})
    run = await worker.submit(who, order.thread, asked)
    async with aclosing(read_events(order, _parts(worker, who, run))) as events:
        async for event in events:
            yield event


async def _parts(worker: Engine, who: Person, run: dict[str, Any]) -> AsyncGenerator[Streamed]:
    try:
        async for part in worker.follow(run):
            if part is not None and part.name.partition("|")[0] in ("updates", "messages", "error"):
                yield part.name, decode(part.data)
    except (asyncio.CancelledError, GeneratorExit):
        worker.leave(who, run)
        raise
    last = await worker.runs.get(who.owner, run["thread_id"], run["run_id"])
    if last["status"] in ("pending", "running"):
        raise RunFailed("The server is about to stop.", fix="Ask again in a moment.")
