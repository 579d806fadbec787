"""The arena on a page of this machine: two texts, four buttons, nothing that tells who wrote them.

The page is served on loopback alone, under an address that nobody can guess, and to no other name
than this machine's: another page in the same browser can neither read it nor vote on it.
"""

import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import get_args

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from planweave.apps.ports import bound
from planweave.apps.sent import body, json_object
from planweave.benchmarks.arena.votes import Ballot, Verdict

_FILES = Path(__file__).with_name("static")
_LONGEST = 1_000  # bytes of a vote
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(ballot: Ballot, token: str, decided: Callable[[], None]) -> Starlette:
    """The page for a ballot.

    Args:
        ballot: What is voted on.
        token: First part of every path; a request without it finds nothing.
        decided: Called when nothing is left to vote on.
    """

    async def match(_: Request) -> Response:
        left = ballot.left()
        answer: dict[str, object] = {"left": len(left), "of": len(ballot.matches)}
        if left:
            first = left[0]
            texts = {"task": first.asked, "a": first.a.text, "b": first.b.text}
            answer |= {"number": len(ballot.matches) - len(left) + 1, **texts}
        return _guarded(JSONResponse(answer))

    async def vote(request: Request) -> Response:
        left = ballot.left()
        number, verdict = await _vote(request)
        if verdict is None:
            return _guarded(JSONResponse({"error": "This is no vote."}, status_code=400))
        if left and number == len(ballot.matches) - len(left) + 1:  # else it was sent twice
            ballot.cast(left[0], verdict)
        if not ballot.left():
            decided()
        return await match(request)

    routes = [
        Route("/", _file("page.html")),
        Route("/page.css", _file("page.css")),
        Route("/page.js", _file("page.js")),
        Route("/match", match),
        Route("/vote", vote, methods=["POST"]),
    ]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    return Starlette(routes=[Mount(f"/{token}", routes=routes)], middleware=[hosts])


def serve(ballot: Ballot, port: int, say: Callable[[str], None]) -> None:
    """Serve the page until every pair is decided, or the person stops it."""
    if not ballot.left():
        return
    with bound("127.0.0.1", port) as listener:
        token = secrets.token_urlsafe(16)

        def stop() -> None:
            server.should_exit = True

        app = make_app(ballot, token, stop)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        listener.listen()  # whoever opens the page before the server runs waits for it
        say(f"Vote on http://127.0.0.1:{listener.getsockname()[1]}/{token}/ (Ctrl-C ends it).")
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            say("The same command goes on from here.")


async def _vote(request: Request) -> tuple[int, Verdict | None]:
    """Number of the pair and the verdict; None if it is no vote of our page."""
    kind = request.headers.get("content-type", "")
    try:
        sent = json_object(await body(request, _LONGEST))
        number, verdict = int(sent["number"]), sent["verdict"]
    except (ValueError, KeyError, TypeError):
        return 0, None
    fits = kind.startswith("application/json") and verdict in get_args(Verdict)
    return number, verdict if fits else None


def _file(name: str) -> Endpoint:
    async def file(_: Request) -> Response:
        return _guarded(FileResponse(_FILES / name))

    return file


def _guarded(response: Response) -> Response:
    response.headers.update(_HEADERS)
    return response
