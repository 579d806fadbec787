"""Whether the server lives, what it is, and its figures."""

from importlib.metadata import version

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planweave import __version__
from planweave.apps.server import metrics
from planweave.apps.server.routes.asked import answer, engine


async def ok(request: Request) -> Response:
    """Whether the server answers, and with ``check_db=1`` whether its database does."""
    if request.query_params.get("check_db"):
        await engine(request).storage.database.transaction(lambda it: it.execute(select(1)))
    return answer({"ok": True})


async def info(_: Request) -> Response:
    """Versions, and which parts of the protocol there are."""
    flags = {"assistants": True, "crons": False, "langsmith": False}
    return answer(
        {"version": __version__, "langgraph_py_version": version("langgraph"), "flags": flags}
    )


async def figures(request: Request) -> Response:
    """For Prometheus."""
    text = metrics.exposition(await engine(request).runs.counts())
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


ROUTES = [Route("/ok", ok), Route("/info", info), Route("/metrics", figures)]
