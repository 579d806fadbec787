"""Replies of servers that end too early, or are an error with status 200: trouble of the server's.

The clients of providers look at the status alone, and so would neither try again nor tell what is
wrong. Here such a reply gets the status that it should have had.
"""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import httpx

from planweave.texts import shorten

_BAD_GATEWAY = 502
_END = b"data: [DONE]"
_FINISHED = b'"finish_reason"'


class CheckedClient(httpx.Client):
    """A client that looks at the replies of chat completions."""

    def send(self, request: httpx.Request, *, stream: bool = False, **how: Any) -> httpx.Response:
        """Send one request."""
        response = super().send(request, stream=stream, **how)
        if not _is_completion(request, response):
            return response
        if not stream:
            return _checked(response)
        response.stream = _WholeStream(cast("httpx.SyncByteStream", response.stream))
        return response


class AsyncCheckedClient(httpx.AsyncClient):
    """As :class:`CheckedClient`, for the event loop."""

    async def send(
        self, request: httpx.Request, *, stream: bool = False, **how: Any
    ) -> httpx.Response:
        """Send one request."""
        response = await super().send(request, stream=stream, **how)
        if not _is_completion(request, response):
            return response
        if not stream:
            return _checked(response)
        response.stream = _AsyncWholeStream(cast("httpx.AsyncByteStream", response.stream))
        return response


def _is_completion(request: httpx.Request, response: httpx.Response) -> bool:
    return request.url.path.endswith("/chat/completions") and response.status_code == 200


def _checked(response: httpx.Response) -> httpx.Response:
    """The response, or what it should have been."""
    try:
        reply = json.loads(response.content)
    except (ValueError, RecursionError):
        return _trouble(response, "its reply is cut off or no JSON")
    error = reply.get("error") if isinstance(reply, dict) else None
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        text = error.get("message") if isinstance(error, dict) else error
        status = code if isinstance(code, int) and 400 <= code < 600 else _BAD_GATEWAY
        return _trouble(response, shorten(str(text), 300), status)
    if not _holds_message(reply):
        return _trouble(response, "its reply holds no message")
    return response


def _holds_message(reply: object) -> bool:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and isinstance(first.get("message"), dict)


def _trouble(response: httpx.Response, text: str, status: int = _BAD_GATEWAY) -> httpx.Response:
    error = {"message": text, "type": "server_error"}
    return httpx.Response(status, json={"error": error}, request=response.request)


class _Watch:
    """Notes whether a stream came to its end."""

    def __init__(self) -> None:
        self._tail = b""
        self._ended = False

    def see(self, chunk: bytes) -> None:
        """Look at a further piece."""
        seen = self._tail + chunk
        finished = seen.replace(b" ", b"").replace(_FINISHED + b":null", b"")
        self._ended = self._ended or _END in seen or _FINISHED in finished
        self._tail = seen[-64:]

    def check(self) -> None:
        """Check that the end has come."""
        if not self._ended:
            raise httpx.RemoteProtocolError("the stream of the reply is cut off")


class _WholeStream(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        watch = _Watch()
        for chunk in self._inner:
            watch.see(chunk)
            yield chunk
        watch.check()

    def close(self) -> None:
        self._inner.close()


class _AsyncWholeStream(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        watch = _Watch()
        async for chunk in self._inner:
            watch.see(chunk)
            yield chunk
        watch.check()

    async def aclose(self) -> None:
        await self._inner.aclose()
