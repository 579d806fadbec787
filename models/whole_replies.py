"""Turns replies that end early, or that hold an error with status 200, into server errors.

The clients of providers only look at the status, so they would neither retry nor report the
problem. Here such a reply gets the status that it should have had.
"""

import json
import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import Any, cast

import httpx

from planweave.texts import shorten

NONE_KEPT = httpx.Limits(max_keepalive_connections=0)
"""A kept-alive connection would belong to an event loop that may be gone."""
_BAD_GATEWAY = 502
_END = b"data: [DONE]"
_FINISHED = b'"finish_reason"'


def clients() -> tuple[httpx.Client, httpx.AsyncClient]:
    """New clients for a model's server."""
    options: Any = {"verify": certificates(), "limits": NONE_KEPT, "follow_redirects": True}
    return httpx.Client(**options), CheckedClient(**options)


@cache
def certificates() -> ssl.SSLContext:
    """The trusted authorities; reading them takes longer than making a client."""
    return httpx.create_ssl_context()


class CheckedClient(httpx.AsyncClient):
    """A client that checks the replies of chat completions; all models use it.

    Each request has its own connections: a client's connections belong to one event loop, and
    programs use the same model from several.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._options = options

    async def send(
        self, request: httpx.Request, *, stream: bool = False, **options: Any
    ) -> httpx.Response:
        """Send one request."""
        response = await httpx.AsyncClient(**self._options).send(request, stream=stream, **options)
        if not request.url.path.endswith("/chat/completions") or response.status_code != 200:
            return response
        if not stream:
            return _check_response(response)
        response.stream = _CheckedStream(cast("httpx.AsyncByteStream", response.stream))
        return response


def _check_response(response: httpx.Response) -> httpx.Response:
    """The response, with the status that it should have had."""
    try:
        reply = json.loads(response.content)
    except (ValueError, RecursionError):
        return _error_response(response, "its reply is cut off or no JSON")
    error = reply.get("error") if isinstance(reply, dict) else None
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        text = error.get("message") if isinstance(error, dict) else error
        status = code if isinstance(code, int) and 400 <= code < 600 else _BAD_GATEWAY
        return _error_response(response, shorten(str(text), 300), status)
    if not _holds_message(reply):
        return _error_response(response, "its reply holds no message")
    return response


def _holds_message(reply: object) -> bool:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and isinstance(first.get("message"), dict)


def _error_response(
    response: httpx.Response, text: str, status: int = _BAD_GATEWAY
) -> httpx.Response:
    error = {"message": text, "type": "server_error"}
    return httpx.Response(status, json={"error": error}, request=response.request)


class _CheckedStream(httpx.AsyncByteStream):
    """A stream that raises if it stops before the end of the reply."""

    def __init__(self, inner: httpx.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        tail, ended = b"", False
        async for chunk in self._inner:
            seen = tail + chunk
            finished = seen.replace(b" ", b"").replace(_FINISHED + b":null", b"")
            ended = ended or _END in seen or _FINISHED in finished
            tail = seen[-64:]
            yield chunk
        if not ended:
            raise httpx.RemoteProtocolError("the stream of the reply is cut off")

    async def aclose(self) -> None:
        await self._inner.aclose()
