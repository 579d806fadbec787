"""How much of a prompt a server has read: llama.cpp reports it while a reply streams."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import NamedTuple, TypeAlias, cast

import httpx

from planweave.usage import held


class PromptProgress(NamedTuple):
    """How many tokens of a prompt are read, their total, and how many were cached."""

    read: int
    tokens: int
    cached: int


OnPromptProgress: TypeAlias = Callable[[PromptProgress], None]

_listener: ContextVar[OnPromptProgress | None] = ContextVar("hearing", default=None)
_REPORT = b'"prompt_progress"'


def reading_heard(report: OnPromptProgress) -> AbstractContextManager[OnPromptProgress]:
    """Report the reading of prompts that this task sends inside the block."""
    return held(_listener, report)


def reporting(request: httpx.Request) -> httpx.Request:
    """Add a request for reports if the reply streams and somebody listens."""
    if _listener.get() is None:
        return request
    try:
        body = json.loads(request.content)
    except (ValueError, httpx.RequestNotRead):
        return request
    if not body.get("stream"):
        return request
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    body |= {"return_progress": True}
    return httpx.Request(
        request.method, request.url, headers=headers, json=body, extensions=request.extensions
    )


def heard(response: httpx.Response) -> httpx.Response:
    """The response, with its reports passed on as they arrive."""
    report = _listener.get()
    if report is not None:
        response.stream = _ReportingStream(cast("httpx.AsyncByteStream", response.stream), report)
    return response


class _ReportingStream(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, report: OnPromptProgress) -> None:
        self._inner, self._hear = inner, report

    async def __aiter__(self) -> AsyncIterator[bytes]:
        line = b""
        async for piece in self._inner:
            *whole, line = (line + piece).split(b"\n")
            for one in whole:
                if _REPORT in one and (found := _report(one)):
                    self._hear(found)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def _report(line: bytes) -> PromptProgress | None:
    try:
        progress = json.loads(line.removeprefix(b"data:"))["prompt_progress"]
        return PromptProgress(progress["processed"], progress["total"], progress["cache"])
    except (ValueError, KeyError, TypeError):  # another server's, in another form
        return None
