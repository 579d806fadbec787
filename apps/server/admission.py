"""What every request passes before a route sees it: who calls, from which page, how much."""

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
"""The studio bounds what it takes here by itself."""


class SafeHeaders:
    """Puts security headers on every answer that has none of its own, and counts answers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                metrics.answered(message["status"])
            await send(message)

        await self.app(scope, receive, guarded if scope["type"] == "http" else send)


class KnownPages:
    """Refuses requests of strange web pages, where nobody is asked for a key of their own."""

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


class SmallBodies:
    """Refuses a body that is too large, announced or not, and an address with a NUL in it."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self.app = app
        self._most = settings.body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"].startswith(_UPLOADS):
            await self.app(scope, receive, send)
            return
        if b"%00" in scope.get("raw_path", b"") + scope["query_string"]:
            await refusal(scope["path"], 422, "The address holds the character NUL.")(
                scope, receive, send
            )
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal() or int(announced) > self._most:
            await refusal(scope["path"], 413, self._told)(scope, receive, send)
            return
        await self._bounded(scope, receive, send)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose body is counted as it is read."""
        read, begun = 0, False

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise TooLarge(self._told)
            return message

        async def watched(message: Message) -> None:
            """Pass an answer on, unless the body was too large for it to mean anything."""
            nonlocal begun
            if begun or read <= self._most:
                begun = True
                await send(message)

        try:
            await self.app(scope, counted, watched)
        except Exception:  # a library that reads the body may make another error of ours
            if read <= self._most:
                raise
        if read > self._most and not begun:
            await refusal(scope["path"], 413, self._told)(scope, receive, send)

    @property
    def _told(self) -> str:
        return f"A request may have {self._most:,} bytes at most."


class Admission:
    """Lets in whom the operator knows, and tells the routes who it is."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if bare := self._gate.without_token(scope):
            await bare(scope, receive, send)
            return
        try:
            person = await self._gate.person(Headers(scope=scope))
        except Exception:  # of the operator's own hook: nobody comes in by its failure
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
    """Whether a path needs no key: it shows nothing of any person."""
    page = path in ("/", "/studio") or path.startswith("/studio/")
    return path == "/ok" or (page and not path.startswith("/studio/api"))
