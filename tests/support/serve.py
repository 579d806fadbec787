"""Real ``planweave serve`` processes on loopback."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from command_line import PROGRAM
from servers import Process, answering, end, free_port, launched, wait_for


@dataclass(frozen=True)
class Served:
    """A server: where it listens, its process, and what it writes."""

    url: str
    process: Process
    log: Path


def start(folder: Path, *options: str, port: str = "", **variables: str) -> Served:
    """Start a server that keeps everything in ``folder``; it may not be ready yet."""
    port = port or str(free_port())
    log = folder / f"server-{port}.log"
    environment = os.environ | {
        "PLANWEAVE_STATE_DIR": str(folder / "state"),
        "PLANWEAVE_CACHE_DIR": str(folder / "cache"),
        "PLANWEAVE_DATA_DIR": str(folder / "data"),
        "PLANWEAVE_RESPONSE_CACHE": "off",
        "PLANWEAVE_RETRIES": "0",
        **variables,
    }
    # No token is asked for, unless a test is about it, or keys are.
    trusting = ["--no-token"]
    if "PLANWEAVE_SERVE_TOKEN" in variables or "--users" in options:
        trusting = []
    command = [PROGRAM, "serve", "--port", port, *trusting, *options]
    process = launched(command, log, cwd=folder, env=environment)
    return Served(f"http://127.0.0.1:{port}", process, log)


def ready(server: Served) -> Served:
    """Wait until a server answers."""
    wait_for(server.process, server.log, answering(f"{server.url}/ok"))
    return server


def stop(server: Served) -> None:
    """Stop a server if it still runs."""
    end(server.process)


@contextmanager
def serving_planweave(folder: Path, *options: str, **variables: str) -> Iterator[Served]:
    """A server while the block runs; nothing may go wrong in it unseen."""
    server = start(folder, *options, **variables)
    try:
        yield ready(server)
    finally:
        stop(server)
    assert "Traceback" not in server.log.read_text(), server.log.read_text()[-3000:]
