"""Reading requests and writing event streams."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from planweave import BadInput, PlanweaveError
from planweave.apps.sent import body, json_object

_MOST_BYTES = 4_000_000
_QUIET_SECONDS = 15.0

log = logging.getLogger(__name__)


async def read_body(request: Request) -> dict[str, Any]:
    """The JSON of a request.

    It must say that it is JSON: without that word a browser would send it for any web page, and
    ask nobody before.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise BadInput("The request does not say that it is JSON.", fix="Send its content-type.")
    return json_object(await body(request, _MOST_BYTES))


def error_reply(error: Exception) -> tuple[int, str]:
    """HTTP status and sentence for an error; what nobody outside can fix is only logged."""
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
    """An error in OpenAI's shape."""
    kind = "invalid_request_error" if status < 500 else "api_error"
    return {"error": {"message": text, "type": kind, "param": None, "code": code}}


def event_stream(events: AsyncGenerator[str]) -> StreamingResponse:
    """The data of server-sent events, with a comment now and then while nothing happens."""
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
    finally:  # when the caller is gone, the run ends
        filling.cancel()
