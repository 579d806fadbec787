"""Reading requests and writing event streams."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from planweave import BadInput, PlanweaveError
from planweave.apps.request_body import parse_object, read_bytes

_MAX_BYTES = 4_000_000
_QUIET_SECONDS = 15.0

log = logging.getLogger(__name__)


async def read_body(request: Request) -> dict[str, Any]:
    """Read the JSON object in a request.

    The content type must be JSON: a browser sends other types for any web page without a preflight.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise BadInput(
            "The content type of the request is not JSON.",
            fix="Send content-type: application/json.",
        )
    return parse_object(await read_bytes(request, _MAX_BYTES))


def error_reply(error: Exception) -> tuple[int, str]:
    """HTTP status and message of an error; errors that a caller cannot fix are only logged."""
    status = getattr(error, "status", None)
    if isinstance(error, PlanweaveError) and isinstance(status, int):
        return status, str(error)
    if isinstance(error, BadInput):
        return 400, str(error)
    if isinstance(error, PlanweaveError):
        return 502, str(error)
    log.error("a run failed", exc_info=error)
    return 500, "The run failed; see the server's log."


def openai_error(status: int, text: str, code: str | None = None) -> dict[str, Any]:
    """An error in OpenAI's format."""
    kind = "invalid_request_error" if status < 500 else "api_error"
    return {"error": {"message": text, "type": kind, "param": None, "code": code}}


def event_stream(events: AsyncGenerator[str]) -> StreamingResponse:
    """Stream server-sent events, with a comment every 15 s while there is no event."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_lines(events), media_type="text/event-stream", headers=headers)


async def _lines(events: AsyncGenerator[str]) -> AsyncIterator[str]:
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    async def fill() -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    queue.put_nowait(event)
        finally:
            queue.put_nowait(None)

    filling = asyncio.create_task(fill())
    try:
        while True:
            try:
                async with asyncio.timeout(_QUIET_SECONDS):
                    event = await queue.get()
            except TimeoutError:
                yield ": still at work\n\n"
                continue
            if event is None:
                return
            yield f"data: {event}\n\n"
    finally:  # the run ends when the caller disconnects
        filling.cancel()
