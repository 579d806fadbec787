"""Real ``planweave serve`` processes on loopback."""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from command_line import PROGRAM
from servers import free_port

_START_SECONDS = 150


@dataclass(frozen=True)
class Served:
    """A server: where it listens, its process, and what it writes."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path


def start(folder: Path, *options: str, **variables: str) -> Served:
    """Start a server that keeps everything in ``folder``; it may not be ready yet."""
    port = free_port()
    log = folder / f"server-{port}.log"
    environment = os.environ | {
        "PLANWEAVE_STATE_DIR": str(folder / "state"),
        "PLANWEAVE_CACHE_DIR": str(folder / "cache"),
        "PLANWEAVE_DATA_DIR": str(folder / "data"),
        "PLANWEAVE_RESPONSE_CACHE": "off",
        "PLANWEAVE_RETRIES": "0",
        **variables,
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [PROGRAM, "serve", "--port", str(port), *_trusting(variables), *options],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return Served(f"http://127.0.0.1:{port}", process, log)


def _trusting(variables: Mapping[str, str]) -> list[str]:
    """No token is asked for, unless a test is about it."""
    return [] if "PLANWEAVE_SERVE_TOKEN" in variables else ["--no-token"]


def ready(server: Served) -> Served:
    """Wait until a server answers."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        assert server.process.poll() is None, server.log.read_text()[-3000:]
        assert time.monotonic() < deadline, server.log.read_text()[-3000:]
        try:
            httpx.get(f"{server.url}/ok", timeout=10).raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return server


def stop(server: Served) -> None:
    """Stop a server if it still runs."""
    if server.process.poll() is None:
        server.process.terminate()
        try:
            server.process.wait(60)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()


@contextmanager
def serving_planweave(folder: Path, *options: str, **variables: str) -> Iterator[Served]:
    """A server while the block runs; nothing may go wrong in it unseen."""
    server = start(folder, *options, **variables)
    try:
        yield ready(server)
    finally:
        stop(server)
    assert "Traceback" not in server.log.read_text(), server.log.read_text()[-3000:]
