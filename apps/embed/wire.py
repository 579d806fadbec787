"""Reading requests and writing event streams."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import StreamingResponse

from planweave import BadInput, PlanweaveError

_MOST_BYTES = 4_000_000
_QUIET_SECONDS = 15.0

log = logging.getLogger(__name__)


async def read_body(request: Request) -> Any:
    """The JSON of a request.

    It must say that it is JSON: without that word a browser would send it for any web page, and
    ask nobody before.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise BadInput("The request does not say that it is JSON.", fix="Send its content-type.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise BadInput(f"The request is larger than {_MOST_BYTES} bytes.")
    try:
        read = json.loads(body)
        if b"\\u" in body:  # half of a surrogate pair, which nothing can keep or send
            json.dumps(read, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise BadInput("The request is no JSON.") from None
    if not isinstance(read, dict):
        raise BadInput("The request is no JSON object.")
    return read


Body = TypeVar("Body", bound=BaseModel)


def checked(model: type[Body], sent: Any) -> Body:
    """What was sent, as the model of it."""
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"The field {place} cannot be used: {first['msg']}.") from None


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
