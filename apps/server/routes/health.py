"""Health, version and metrics of the server."""

from importlib.metadata import version

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planweave import __version__
from planweave.apps.server import metrics
from planweave.apps.server.routes.common import engine, reply


async def ok(request: Request) -> Response:
    """Report that the server answers; with ``check_db=1``, its database, too."""
    if request.query_params.get("check_db"):
        await engine(request).storage.database.transaction(
            lambda connection: connection.execute(select(1))
        )
    return reply({"ok": True})


async def info(_: Request) -> Response:
    """Versions, and the supported parts of the protocol."""
    flags = {"assistants": True, "crons": False, "langsmith": False}
    return reply(
        {"version": __version__, "langgraph_py_version": version("langgraph"), "flags": flags}
    )


async def metrics_text(request: Request) -> Response:
    """Metrics for Prometheus."""
    text = metrics.exposition(await engine(request).runs.counts())
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


ROUTES = [Route("/ok", ok), Route("/info", info), Route("/metrics", metrics_text)]
