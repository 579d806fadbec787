"""``planweave serve``: the methods for many users, over the LangGraph server's protocol."""

import ipaddress
import os
import secrets
import socket
import tempfile
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from planweave import BadInput
from planweave.apps.options import TrustRole
from planweave.apps.origins import THIS_MACHINE
from planweave.errors import require

if TYPE_CHECKING:
    from planweave.apps.server.settings import ServerSettings

EXAMPLES = """\
planweave serve --open

planweave serve --port 8080 --workers 4 --users users.json

planweave serve --new-key ann
"""

_LAST = 65_535  # port
_PACKAGES = ("greenlet", "orjson", "prometheus_client", "starlette", "uvicorn")

_TOKEN = "PLANWEAVE_SERVE_TOKEN"  # noqa: S105 (the name of a variable)
_START_SECONDS = 120
_HUNG_SECONDS = 15
"""A worker that does not answer for that long is replaced; a busy machine may starve one for 5."""


def serve(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=_LAST)] = 2024,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    users: Annotated[
        Path | None, typer.Option(help="JSON file of users; then every request needs a key.")
    ] = None,
    trust_role: TrustRole = False,
    new_key: Annotated[
        str | None, typer.Option(help="Make an API key for this user, print it, and stop.")
    ] = None,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token",
            help="Without --users: answer every program of this machine, without a token.",
        ),
    ] = False,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the studio in the browser when it is ready.")
    ] = False,
) -> None:
    """Serve every method over HTTP: threads, runs, streams, memory (docs/operations.md)."""
    del trust_role  # its callback has kept it
    require("The server", "serve", *_PACKAGES)
    settings = _settings(users, no_token=no_token)
    if new_key is not None:
        from planweave.apps.server.people import new_key as make_key

        typer.echo(make_key(settings, new_key))
        return
    _check(settings, host, port)
    page = _announced(host, port, "" if no_token else _new_token(settings))
    if open_page:
        Thread(target=_open, args=(host, port, page), daemon=True).start()
    _run(host, port, workers, settings.drain_seconds)


def _settings(users: Path | None, *, no_token: bool) -> "ServerSettings":
    """What the operator decides; the workers inherit it in the environment."""
    from planweave.apps.server.settings import server_settings
    from planweave.graphs.support.builder import CHECK as STATE_CHECK

    os.environ.setdefault(STATE_CHECK, "log")  # a run goes on, and the operator reads why
    if users is not None:
        os.environ["PLANWEAVE_SERVE_USERS"] = str(users.absolute())
    if no_token:
        os.environ[_TOKEN] = ""
    return server_settings()


def _check(settings: "ServerSettings", host: str, port: int) -> None:
    """Report at once, and in one process, what the workers would meet at the first request."""
    from planweave.apps.server.people import Gate
    from planweave.apps.server.tables import check_database
    from planweave.apps.service import service

    if Gate(settings).is_closed:
        raise BadInput(
            f"There is no user with a key in {settings.users}, so nobody could call the server.",
            fix="Make a key: planweave serve --users FILE --new-key NAME.",
        )
    check_database(settings.database())
    service()
    if not settings.shared and not _is_loopback(host):
        raise BadInput(
            f"Without keys the server answers anybody, so it does not listen at {host}.",
            fix="Give --users FILE, or PLANWEAVE_SERVE_AUTH, or listen at 127.0.0.1.",
        )
    _check_address(host, port)


def _new_token(settings: "ServerSettings") -> str:
    """Make the token of a server that has neither users nor a token; the workers inherit it."""
    if settings.shared or settings.token.get_secret_value():
        return ""
    from planweave.apps.server.settings import server_settings

    os.environ[_TOKEN] = secrets.token_urlsafe(24)
    server_settings.cache_clear()
    return os.environ[_TOKEN]


def _announced(host: str, port: int, token: str) -> str:
    """Say where the server answers; the address of the studio."""
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    page = f"{address}/studio/" + (f"?token={token}" if token else "")
    typer.echo(f"planweave answers at {address}; the studio: {page}", err=True)
    return page


def _run(host: str, port: int, workers: int, drain_seconds: int) -> None:
    import uvicorn

    with tempfile.TemporaryDirectory(prefix="planweave-metrics-") as figures:
        if workers > 1:  # they add up their figures there
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = figures
        uvicorn.run(
            "planweave.apps.server.app:create_app",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            timeout_worker_healthcheck=_HUNG_SECONDS,
            timeout_graceful_shutdown=drain_seconds,
            log_level="warning",
            server_header=False,
        )


def _open(host: str, port: int, page: str) -> None:
    """Show the page in the person's browser as soon as the server listens."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            webbrowser.open(page)
            return
        time.sleep(0.2)


def _is_loopback(host: str) -> bool:
    if host in THIS_MACHINE:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_address(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            other = port + 1 if port < _LAST else port - 1
            raise BadInput(
                f"The server cannot listen at {host}:{port} ({error.strerror}).",
                fix=f"Stop what listens there, or choose another port: --port {other}.",
            ) from None
