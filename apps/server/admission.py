"""Middleware for every request: security headers, origin, body size, authentication."""

import logging

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planweave.apps.origins import is_known
from planweave.apps.server import metrics
from planweave.apps.server.errors import TooLarge
from planweave.apps.server.people import Gate
from planweave.apps.server.settings import ServerSettings
from planweave.apps.server.wire import refusal

log = logging.getLogger(__name__)

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
_UPLOADS = ("/studio/api/documents", "/studio/api/databases")
"""Paths for which the studio has its own limit."""


class SecurityHeaders:
    """Adds security headers to every reply that has none, and counts replies."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                metrics.count_request(message["status"])
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class OriginCheck:
    """Refuses requests of unknown web pages if the server has no keys."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self.app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and not self._settings.shared:
            headers = Headers(scope=scope)
            origin, host = headers.get("origin", ""), headers.get("host", "")
            if not is_known("" if origin in self._settings.origins else origin, host):
                await refusal(
                    scope["path"], 403, "This server does not answer web pages of other sites."
                )(scope, receive, send)
                return
        await self.app(scope, receive, send)


class BodyLimit:
    """Refuses a body that is too large, announced or not, and an address that contains NUL."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self.app = app
        self._most = settings.body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"].startswith(_UPLOADS):
            await self.app(scope, receive, send)
            return
        if b"%00" in scope.get("raw_path", b"") + scope["query_string"]:
            await refusal(scope["path"], 422, "The address contains the character NUL.")(
                scope, receive, send
            )
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal() or int(announced) > self._most:
            await refusal(scope["path"], 413, self._size_message)(scope, receive, send)
            return
        await self._bounded(scope, receive, send)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and count its body while it is read."""
        read, has_started = 0, False

        async def receive_counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise TooLarge(self._size_message)
            return message

        async def send_if_small(message: Message) -> None:
            """Send the reply, unless the body was too large."""
            nonlocal has_started
            if has_started or read <= self._most:
                has_started = True
                await send(message)

        try:
            await self.app(scope, receive_counted, send_if_small)
        except Exception:  # a library that reads the body may replace our error
            if read <= self._most:
                raise
        if read > self._most and not has_started:
            await refusal(scope["path"], 413, self._size_message)(scope, receive, send)

    @property
    def _size_message(self) -> str:
        return f"A request may have at most {self._most:,} bytes."


class Admission:
    """Authenticates the caller, and stores the person for the routes."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if redirect := self._gate.redirect_without_token(scope):
            await redirect(scope, receive, send)
            return
        try:
            person = await self._gate.person(Headers(scope=scope))
        except Exception:  # of the operator's hook; its failure admits nobody
            log.exception("the hook for authentication failed")
            person = None
        if person is None and not _is_open(scope["path"]):
            refused = refusal(scope["path"], 401, self._gate.asks)
            refused.headers["WWW-Authenticate"] = "Bearer"
            await refused(scope, receive, send)
            return
        scope.setdefault("state", {})["person"] = person
        await self.app(scope, receive, send)


def _is_open(path: str) -> bool:
    """Whether a path needs no key, as it shows no data of any person."""
    page = path in ("/", "/studio") or path.startswith("/studio/")
    return path == "/ok" or (page and not path.startswith("/studio/api"))
