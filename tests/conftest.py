"""No test touches the network, the user's files, or a trace server."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_socket import socket_allow_hosts

# Read when the libraries are imported, so set before any of them is.
_HOME = Path(tempfile.mkdtemp(prefix="planweave-tests-"))
os.environ |= {
    "LANGGRAPH_STRICT_MSGPACK": "true",
    "LANGSMITH_TRACING": "false",
    "PLANWEAVE_STATE_DIR": str(_HOME / "state"),
    "PLANWEAVE_CACHE_DIR": str(_HOME / "cache"),
    "PLANWEAVE_DATA_DIR": str(_HOME / "data"),
    "PLANWEAVE_RESPONSE_CACHE": "off",
    "XDG_CACHE_HOME": str(_HOME / "cache"),
}


@pytest.fixture(scope="session", autouse=True)
def _home() -> Iterator[None]:
    yield
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def _no_network() -> None:
    """Loopback stays open for servers of our own, Unix sockets for asyncio."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)
