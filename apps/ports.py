"""Ports to listen at: the option of every command that serves, and what may go wrong with one."""

import socket
from typing import Annotated

import typer

from planweave import BadInput

_LAST = 65_535
_OPTION = typer.Option("--port", help="Port to listen at.", min=1, max=_LAST)
Port = Annotated[int, _OPTION]
AnyPort = Annotated[int | None, _OPTION]
"""One that is free, if unset."""


def bound(host: str, port: int) -> socket.socket:
    """A socket at an address, so that whoever cannot have it is told at once.

    Args:
        host: A name or an address.
        port: 0 for any that is free.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        other = port + 1 if port < _LAST else port - 1
        raise BadInput(
            f"The server cannot listen at {host}:{port} ({error.strerror}).",
            fix=f"Stop what listens there, or choose another port: --port {other}.",
        ) from None
    return listener
