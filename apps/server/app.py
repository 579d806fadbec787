"""The application: storage, worker, middleware and routes."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute

from planweave import PlanweaveError
from planweave.apps.origins import PAGES
from planweave.apps.server import tracing
from planweave.apps.server.admission import Admission, BodyLimit, OriginCheck, SecurityHeaders
from planweave.apps.server.engine import Engine
from planweave.apps.server.people import Gate, Person
from planweave.apps.server.routes import routes
from planweave.apps.server.settings import ServerSettings, server_settings
from planweave.apps.server.storage import open_storage
from planweave.apps.server.wire import refusal

if TYPE_CHECKING:
    from planweave.apps import studio

log = logging.getLogger(__name__)

_LOCAL_PAGES = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
_EXPOSED_HEADERS = ["Content-Location", "Location", "X-Pagination-Total", "X-Pagination-Next"]


def create_app() -> Starlette:
    """Make the application of one process from its settings."""
    settings = server_settings()
    gate = Gate(settings)
    tracing.tracer()
    if not os.environ.get("LANGSMITH_API_KEY"):  # without a key it would only log warnings
        os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        # Enough threads for all runs, even if some of them wait for slow queries.
        threads = ThreadPoolExecutor(2 * settings.jobs, thread_name_prefix="runs")
        asyncio.get_running_loop().set_default_executor(threads)
        async with open_storage(settings.database()) as storage:
            engine = Engine(storage, settings, gate.limits)
            app.state.engine = engine
            _drain_at_signals(engine)
            async with engine.running():
                yield

    return Starlette(
        routes=[*routes(), *other_routes()],
        lifespan=lifespan,
        middleware=_middleware(settings, gate),
        exception_handlers={
            PlanweaveError: _planweave_error,
            HTTPException: _http_error,
            SQLAlchemyError: _database_error,
            ClientDisconnect: _disconnected,
        },
    )


def other_routes() -> list[BaseRoute]:
    """Routes that are not of the protocol: the studio's, and those for other programs."""
    from planweave.apps import protocols, studio
    from planweave.apps.protocols.on_server import on_server

    access = studio.Access(owner=_owner, quota=_quota)
    return [*studio.routes(access), *protocols.routes(on_server)]


def _owner(request: Request) -> str | None:
    who: Person = request.state.person
    return who.owner if who.shared else None


def _quota(request: Request) -> "studio.Quota":
    from planweave.apps import studio

    limits = request.state.person.limits
    return studio.Quota(limits.max_documents, limits.max_document_bytes)


def _middleware(settings: ServerSettings, gate: Gate) -> list[Middleware]:
    pages = list(settings.origins) if settings.shared else [*settings.origins, *PAGES]
    return [
        Middleware(SecurityHeaders),
        Middleware(
            CORSMiddleware,
            allow_origins=pages,
            allow_origin_regex=None if settings.shared else _LOCAL_PAGES,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],
            expose_headers=_EXPOSED_HEADERS,
        ),
        Middleware(OriginCheck, settings=settings),
        Middleware(BodyLimit, settings=settings),
        Middleware(Admission, gate=gate),
    ]


def _drain_at_signals(engine: Engine) -> None:
    """Accept no more runs when the process receives a signal to stop."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        before = signal.getsignal(number)

        def drain(number: int, frame: FrameType | None, before: Any = before) -> None:
            engine.draining = True
            if callable(before):
                before(number, frame)

        signal.signal(number, drain)


async def _planweave_error(request: Request, error: Any) -> JSONResponse:
    shown = error.without_address() if request.state.person.shared else error
    return refusal(request.url.path, getattr(error, "status", 422), str(shown))


async def _http_error(request: Request, error: Any) -> JSONResponse:
    return refusal(request.url.path, error.status_code, error.detail, error.headers)


async def _disconnected(request: Request, _: Exception) -> JSONResponse:
    return refusal(request.url.path, 400, "The request was cut off.")


async def _database_error(request: Request, error: Exception) -> JSONResponse:
    log.error("the database does not answer: %s", error)
    return refusal(request.url.path, 503, "The server's database does not answer.")
