"""Runs: create, stream, wait, cancel."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from planweave import BadInput
from planweave.apps.request_body import validate
from planweave.apps.server.engine import Engine
from planweave.apps.server.execution import NAMES
from planweave.apps.server.people import Person
from planweave.apps.server.requests import RunRequest
from planweave.apps.server.routes.common import engine, no_content, person, read_body, reply
from planweave.apps.server.wire import encode, sse
from planweave.texts import shorten

Run = dict[str, Any]

_STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def create(request: Request) -> Response:
    """Start a run without waiting for it."""
    run, _ = await _submit(request)
    return reply(run, headers=_location(run))


async def stream(request: Request) -> Response:
    """Start a run and stream its events."""
    run, asked = await _submit(request)
    return _stream_response(
        engine(request), person(request), run, cancel=asked.on_disconnect == "cancel"
    )


async def wait(request: Request) -> Response:
    """Start a run, wait for its end, and return its final values."""
    run, asked = await _submit(request, quiet=True)
    return _wait_response(
        engine(request), person(request), run, cancel=asked.on_disconnect == "cancel"
    )


async def list_runs(request: Request) -> Response:
    """The runs of a thread."""
    sent = request.query_params
    limit, offset = (
        _parse_number(sent.get("limit", "10"), 1000),
        _parse_number(sent.get("offset", "0"), 10**9),
    )
    thread = request.path_params["thread_id"]
    found = await engine(request).runs.of_thread(
        person(request).owner, thread, sent.get("status"), limit, offset
    )
    return reply(found)


async def calls(request: Request) -> Response:
    """The calls to models in a thread; this route is not of the protocol."""
    thread = request.path_params["thread_id"]
    return reply(await engine(request).runs.calls(person(request).owner, thread))


async def get(request: Request) -> Response:
    """One run."""
    return reply(await _find_run(request))


async def join(request: Request) -> Response:
    """Wait for the end of a run, and return the values of its thread."""
    return _wait_response(engine(request), person(request), await _find_run(request), cancel=False)


async def join_stream(request: Request) -> Response:
    """Stream the events of a run, from the first one or the one after ``Last-Event-ID``."""
    run = await _find_run(request)
    last = request.headers.get("last-event-id", "")
    after = int(last) if last.isdecimal() and len(last) < 19 else -1
    asked = request.query_params
    cancel = asked.get("cancel_on_disconnect", "").lower() in ("true", "1")
    modes = {NAMES.get(mode, mode) for mode in asked.getlist("stream_mode") if mode}
    return _stream_response(
        engine(request), person(request), run, cancel=cancel, after=after, modes=modes
    )


async def cancel(request: Request) -> Response:
    """Cancel a run; ``rollback`` also deletes it."""
    run, worker, who = await _find_run(request), engine(request), person(request)
    await worker.cancel(who, run["thread_id"], run["run_id"])
    rollback = request.query_params.get("action") == "rollback"
    if rollback or request.query_params.get("wait", "").lower() in ("true", "1"):
        async for _ in worker.follow(run):
            pass
    if rollback:
        await worker.runs.delete(who.owner, run["thread_id"], run["run_id"])
    return no_content()


async def delete(request: Request) -> Response:
    """Delete a run that is over."""
    run = await _find_run(request)
    await engine(request).runs.delete(person(request).owner, run["thread_id"], run["run_id"])
    return no_content()


async def _submit(request: Request, *, quiet: bool = False) -> tuple[Run, RunRequest]:
    asked = validate(RunRequest, await read_body(request))
    thread = request.path_params.get("thread_id")
    run = await engine(request).submit(person(request), thread, asked, quiet=quiet)
    return run, asked


async def _find_run(request: Request) -> Run:
    names = request.path_params
    owner = person(request).owner
    return await engine(request).runs.get(owner, names["thread_id"], names["run_id"])


def _stream_response(
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
        async with _cancel_on_disconnect(worker, who, run, cancel=cancel):
            async for event in worker.follow(run, after):
                if event is None:
                    yield b": still at work\n\n"
                elif event.name == "end" and not worker.draining:
                    pass  # the stream just ends; while this process drains, the event is sent
                elif wanted is None or event.name.partition("|")[0] in wanted:
                    yield sse(event)

    headers = _STREAM_HEADERS | _location(run, "/stream")
    return StreamingResponse(events(), media_type="text/event-stream", headers=headers)


def _wait_response(worker: Engine, who: Person, run: Run, *, cancel: bool) -> Response:
    async def values() -> AsyncIterator[bytes]:
        async with _cancel_on_disconnect(worker, who, run, cancel=cancel):
            yield b"\n"  # so that the headers with the run's id are sent at once
            async for event in worker.follow(run):
                if event is None:
                    yield b"\n"
            yield encode(_result(await worker.threads.get(who.owner, run["thread_id"])))

    headers = _location(run, "/join")
    return StreamingResponse(values(), media_type="application/json", headers=headers)


@asynccontextmanager
async def _cancel_on_disconnect(
    worker: Engine, who: Person, run: Run, *, cancel: bool
) -> AsyncIterator[None]:
    """If ``cancel``, cancel the run when the caller disconnects."""
    try:
        yield
    except (asyncio.CancelledError, GeneratorExit):
        if cancel:
            worker.leave(who, run)
        raise


def _result(thread: dict[str, Any]) -> dict[str, Any]:
    """The final values of a run, in the protocol's format."""
    if thread["status"] == "error" and "error" in thread:
        return {"__error__": thread["error"]}
    waiting = [one for interrupts in thread["interrupts"].values() for one in interrupts]
    return (thread["values"] or {}) | ({"__interrupt__": waiting} if waiting else {})


def _location(run: Run, rest: str = "") -> dict[str, str]:
    place = f"/threads/{run['thread_id']}/runs/{run['run_id']}"
    return {"Content-Location": place} | ({"Location": f"{place}{rest}"} if rest else {})


def _parse_number(text: str, most: int) -> int:
    if not text.isdecimal() or len(text) > 12 or int(text) > most:
        raise BadInput(f"{shorten(text, 20)!r} is not a number from 0 to {most}.")
    return int(text)


_OF_THREAD = "/threads/{thread_id}/runs"
_ONE = f"{_OF_THREAD}/{{run_id}}"
ROUTES = [
    Route("/runs", create, methods=["POST"]),
    Route("/runs/stream", stream, methods=["POST"]),
    Route("/runs/wait", wait, methods=["POST"]),
    Route(_OF_THREAD, create, methods=["POST"]),
    Route(_OF_THREAD, list_runs, methods=["GET"]),
    Route(f"{_OF_THREAD}/stream", stream, methods=["POST"]),
    Route(f"{_OF_THREAD}/wait", wait, methods=["POST"]),
    Route("/threads/{thread_id}/calls", calls, methods=["GET"]),
    Route(_ONE, get, methods=["GET"]),
    Route(_ONE, delete, methods=["DELETE"]),
    Route(f"{_ONE}/cancel", cancel, methods=["POST"]),
    Route(f"{_ONE}/join", join, methods=["GET"]),
    Route(f"{_ONE}/stream", join_stream, methods=["GET"]),
]
