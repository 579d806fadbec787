"""How far a server has read a prompt: llama.cpp reports it while a reply is streamed."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import NamedTuple, TypeAlias, cast

import httpx

from planweave.usage import held


class PromptProgress(NamedTuple):
    """How many of a prompt's tokens are read, of how many, and how many of them were kept."""

    read: int
    tokens: int
    cached: int


OnPromptProgress: TypeAlias = Callable[[PromptProgress], None]

_listener: ContextVar[OnPromptProgress | None] = ContextVar("hearing", default=None)
_REPORT = b'"prompt_progress"'


def reading_heard(report: OnPromptProgress) -> AbstractContextManager[OnPromptProgress]:
    """Report how prompts are read that this task sends inside the block."""
    return held(_listener, report)


def reporting(request: httpx.Request) -> httpx.Request:
    """The request, which asks for reports if it asks for a stream and somebody listens."""
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
    """The response, of which reports are heard as they come."""
    report = _listener.get()
    if report is not None:
        response.stream = _Overheard(cast("httpx.AsyncByteStream", response.stream), report)
    return response


class _Overheard(httpx.AsyncByteStream):
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
