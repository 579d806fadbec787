"""Runs: made, followed, waited for, ended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from planweave import BadInput
from planweave.apps.sent import checked
from planweave.apps.server.engine import Engine
from planweave.apps.server.execution import NAMES
from planweave.apps.server.people import Person
from planweave.apps.server.requests import RunRequest
from planweave.apps.server.routes.asked import answer, body, engine, nothing, person
from planweave.apps.server.wire import encode, sse
from planweave.texts import shorten

Run = dict[str, Any]

_STREAM = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def create(request: Request) -> Response:
    """Start a run and do not wait for it."""
    run, _ = await _submitted(request)
    return answer(run, headers=_place(run))


async def stream(request: Request) -> Response:
    """Start a run and stream what it does."""
    run, asked = await _submitted(request)
    return _streamed(engine(request), person(request), run, cancel=asked.on_disconnect == "cancel")


async def wait(request: Request) -> Response:
    """Start a run and answer with the values that it ends with."""
    run, asked = await _submitted(request, quiet=True)
    return _awaited(engine(request), person(request), run, cancel=asked.on_disconnect == "cancel")


async def listed(request: Request) -> Response:
    """The runs of a thread."""
    sent = request.query_params
    limit, offset = _number(sent.get("limit", "10"), 1000), _number(sent.get("offset", "0"), 10**9)
    thread = request.path_params["thread_id"]
    found = await engine(request).runs.of_thread(
        person(request).owner, thread, sent.get("status"), limit, offset
    )
    return answer(found)


async def calls(request: Request) -> Response:
    """What models were asked in a thread; the protocol has no such route."""
    thread = request.path_params["thread_id"]
    return answer(await engine(request).runs.calls(person(request).owner, thread))


async def get(request: Request) -> Response:
    """One run."""
    return answer(await _run(request))


async def join(request: Request) -> Response:
    """The values of a run's thread, when it has ended."""
    return _awaited(engine(request), person(request), await _run(request), cancel=False)


async def join_stream(request: Request) -> Response:
    """What a run does, from its first event or the one after ``Last-Event-ID`` on."""
    run = await _run(request)
    last = request.headers.get("last-event-id", "")
    after = int(last) if last.isdecimal() and len(last) < 19 else -1
    asked = request.query_params
    cancel = asked.get("cancel_on_disconnect", "").lower() in ("true", "1")
    modes = {NAMES.get(mode, mode) for mode in asked.getlist("stream_mode") if mode}
    return _streamed(engine(request), person(request), run, cancel=cancel, after=after, modes=modes)


async def cancel(request: Request) -> Response:
    """End a run; ``rollback`` also forgets it."""
    run, worker, who = await _run(request), engine(request), person(request)
    await worker.cancel(who, run["thread_id"], run["run_id"])
    rollback = request.query_params.get("action") == "rollback"
    if rollback or request.query_params.get("wait", "").lower() in ("true", "1"):
        async for _ in worker.follow(run):
            pass
    if rollback:
        await worker.runs.delete(who.owner, run["thread_id"], run["run_id"])
    return nothing()


async def delete(request: Request) -> Response:
    """Forget a run that is over."""
    run = await _run(request)
    await engine(request).runs.delete(person(request).owner, run["thread_id"], run["run_id"])
    return nothing()


async def _submitted(request: Request, *, quiet: bool = False) -> tuple[Run, RunRequest]:
    asked = checked(RunRequest, await body(request))
    thread = request.path_params.get("thread_id")
    run = await engine(request).submit(person(request), thread, asked, quiet=quiet)
    return run, asked


async def _run(request: Request) -> Run:
    names = request.path_params
    owner = person(request).owner
    return await engine(request).runs.get(owner, names["thread_id"], names["run_id"])


def _streamed(
    worker: Engine,
    who: Person,
    run: Run,
    *,
    cancel: bool,
    after: int = -1,
    modes: set[str] | None = None,
) -> Response:
    wanted = {*modes, "metadata", "error", "end"} if modes else None

    async def events() -> AsyncIterator[bytes]:
        async with _attended(worker, who, run, cancel=cancel):
            async for event in worker.follow(run, after):
                if event is None:
                    yield b": still at work\n\n"
                elif event.name == "end" and not worker.draining:
                    pass  # who listens sees the end, and may ask for the run while we are here
                elif wanted is None or event.name.partition("|")[0] in wanted:
                    yield sse(event)

    headers = _STREAM | _place(run, "/stream")
    return StreamingResponse(events(), media_type="text/event-stream", headers=headers)


def _awaited(worker: Engine, who: Person, run: Run, *, cancel: bool) -> Response:
    async def values() -> AsyncIterator[bytes]:
        async with _attended(worker, who, run, cancel=cancel):
            yield b"\n"  # so that the headers, with the run's name, go out at once
            async for event in worker.follow(run):
                if event is None:
                    yield b"\n"
            yield encode(_result(await worker.threads.get(who.owner, run["thread_id"])))

    headers = _place(run, "/join")
    return StreamingResponse(values(), media_type="application/json", headers=headers)


@asynccontextmanager
async def _attended(worker: Engine, who: Person, run: Run, *, cancel: bool) -> AsyncIterator[None]:
    """A run that somebody listens to; with ``cancel`` it ends when he goes."""
    try:
        yield
    except (asyncio.CancelledError, GeneratorExit):
        if cancel:
            worker.leave(who, run)
        raise


def _result(thread: dict[str, Any]) -> dict[str, Any]:
    """What a run has ended with, as it is told who waits for it."""
    if thread["status"] == "error" and "error" in thread:
        return {"__error__": thread["error"]}
    waiting = [one for interrupts in thread["interrupts"].values() for one in interrupts]
    return (thread["values"] or {}) | ({"__interrupt__": waiting} if waiting else {})


def _place(run: Run, rest: str = "") -> dict[str, str]:
    place = f"/threads/{run['thread_id']}/runs/{run['run_id']}"
    return {"Content-Location": place} | ({"Location": f"{place}{rest}"} if rest else {})


def _number(text: str, most: int) -> int:
    if not text.isdecimal() or len(text) > 12 or int(text) > most:
        raise BadInput(f"{shorten(text, 20)!r} is no number from 0 to {most}.")
    return int(text)


_OF_THREAD = "/threads/{thread_id}/runs"
_ONE = f"{_OF_THREAD}/{{run_id}}"
ROUTES = [
    Route("/runs", create, methods=["POST"]),
    Route("/runs/stream", stream, methods=["POST"]),
    Route("/runs/wait", wait, methods=["POST"]),
    Route(_OF_THREAD, create, methods=["POST"]),
    Route(_OF_THREAD, listed, methods=["GET"]),
    Route(f"{_OF_THREAD}/stream", stream, methods=["POST"]),
    Route(f"{_OF_THREAD}/wait", wait, methods=["POST"]),
    Route("/threads/{thread_id}/calls", calls, methods=["GET"]),
    Route(_ONE, get, methods=["GET"]),
    Route(_ONE, delete, methods=["DELETE"]),
    Route(f"{_ONE}/cancel", cancel, methods=["POST"]),
    Route(f"{_ONE}/join", join, methods=["GET"]),
    Route(f"{_ONE}/stream", join_stream, methods=["GET"]),
]
