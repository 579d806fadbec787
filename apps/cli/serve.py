"""``planweave serve``: the methods for many users, with the LangGraph server's protocol."""

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

_MAX_PORT = 65_535
_PACKAGES = ("greenlet", "orjson", "prometheus_client", "starlette", "uvicorn")

_TOKEN = "PLANWEAVE_SERVE_TOKEN"  # noqa: S105 (the name of a variable)
_START_SECONDS = 120
_HUNG_SECONDS = 15
"""A worker that does not answer for this time is replaced; a busy machine may delay one by 5 s."""


def serve(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=_MAX_PORT)] = 2024,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    users: Annotated[
        Path | None, typer.Option(help="JSON file of users; every request then needs a key.")
    ] = None,
    trust_role: TrustRole = False,
    new_key: Annotated[
        str | None, typer.Option(help="Make an API key for this user, print it, and exit.")
    ] = None,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token",
            help="Without --users: accept every program on this machine, without a token.",
        ),
    ] = False,
    open_page: Annotated[
        bool,
        typer.Option("--open", help="Open the studio in the browser when the server is ready."),
    ] = False,
) -> None:
    """Serve every method over HTTP: threads, runs, streams, memory (docs/operations.md)."""
    del trust_role  # its callback has stored it
    require("The server", "serve", *_PACKAGES)
    settings = _server_settings(users, no_token=no_token)
    if new_key is not None:
        from planweave.apps.server.people import new_key as make_key

        typer.echo(make_key(settings, new_key))
        return
    _check_startup(settings, host, port)
    page = _announce(host, port, "" if no_token else _new_token(settings))
    if open_page:
        Thread(target=_open_page, args=(host, port, page), daemon=True).start()
    _run_server(host, port, workers, settings.drain_seconds)


def _server_settings(users: Path | None, *, no_token: bool) -> "ServerSettings":
    """Read the operator's settings; the workers inherit them as environment variables."""
    from planweave.apps.server.settings import server_settings
    from planweave.graphs.support.builder import CHECK as STATE_CHECK

    os.environ.setdefault(STATE_CHECK, "log")  # runs continue, and the log has the warning
    if users is not None:
        os.environ["PLANWEAVE_SERVE_USERS"] = str(users.absolute())
    if no_token:
        os.environ[_TOKEN] = ""
    settings = server_settings()
    if no_token and settings.shared:
        raise BadInput(
            "--no-token has no meaning on a server with users, who have keys.", fix="Leave it out."
        )
    return settings


def _check_startup(settings: "ServerSettings", host: str, port: int) -> None:
    """Report problems at the start that the workers would have at the first request."""
    from planweave.apps.server.people import Gate
    from planweave.apps.server.tables import check_database
    from planweave.apps.service import service
    from planweave.models import price_of

    if Gate(settings).has_no_users:
        raise BadInput(
            f"There is no user with a key in {settings.users}, so nobody can call the server.",
            fix="Make a key: planweave serve --users FILE --new-key NAME.",
        )
    check_database(settings.database())
    price_of(service().context.model)  # reads the files of the service and of prices
    if not settings.shared and not _is_loopback(host):
        raise BadInput(
            f"Without keys, the server answers anybody, so it does not listen at {host}.",
            fix="Give --users FILE, or PLANWEAVE_SERVE_AUTH, or listen at 127.0.0.1.",
        )
    _check_address(host, port)


def _new_token(settings: "ServerSettings") -> str:
    """Make a token if the server has neither users nor a token; the workers inherit it."""
    if settings.shared or settings.token.get_secret_value():
        return ""
    from planweave.apps.server.settings import server_settings

    os.environ[_TOKEN] = secrets.token_urlsafe(24)
    server_settings.cache_clear()
    return os.environ[_TOKEN]


def _announce(host: str, port: int, token: str) -> str:
    """Print the server's address; return the URL of the studio."""
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    page = f"{address}/studio/" + (f"?token={token}" if token else "")
    typer.echo(f"planweave answers at {address}; the studio: {page}", err=True)
    return page


def _run_server(host: str, port: int, workers: int, drain_seconds: int) -> None:
    import uvicorn

    with tempfile.TemporaryDirectory(prefix="planweave-metrics-") as folder:
        if workers > 1:  # they share their metrics there
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
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


def _open_page(host: str, port: int, page: str) -> None:
    """Open the page in the browser when the server listens."""
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
            other = port + 1 if port < _MAX_PORT else port - 1
            raise BadInput(
                f"The server cannot listen at {host}:{port} ({error.strerror}).",
                fix=f"Stop the program on this port, or choose another one: --port {other}.",
            ) from None
