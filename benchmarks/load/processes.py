"""The processes beside the load benchmark: ``planweave serve``, and a model that needs no thought.

The model has a process of its own, so that it takes nothing from the loop that is measured but its
share of the machine.
"""

import asyncio
import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from planweave import BadInput

QUERY = "SELECT trade_node, ingoing, total_power FROM trade_node ORDER BY trade_node"
DECISION = "the first node"
_REPLIES = {
    "the one query": {"thought": "Read the nodes.", "tool": "sql", "input": QUERY},
    "the decision": {"why": "It comes first.", "facts": [1], "decision": DECISION, "unknown": ""},
}
_PIECE_SECONDS = 0.02
_START_SECONDS = 120
_STOP_SECONDS = 20


@dataclass(frozen=True)
class Served:
    """A running server: where it listens, and its process."""

    url: str
    process: subprocess.Popen[bytes]

    def memory_mb(self) -> float | None:
        """Resident memory of all its processes in MB; pages that they share count for each.

        None where there is no ``/proc``.
        """
        pages = sum(int(text.split()[1]) for text in self._processes("statm"))
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6 if pages else None

    def cpu_seconds(self) -> float | None:
        """Processor time that its living processes have used; None where there is no ``/proc``."""
        times = [text.rpartition(")")[2].split()[11:13] for text in self._processes("stat")]
        ticks = sum(int(user) + int(system) for user, system in times)
        return ticks / os.sysconf("SC_CLK_TCK") if times else None

    def workers(self) -> list[int]:
        """Its processes that answer and carry out runs, where it has several; else none."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [pid for pid in map(int, children.split()) if _is_worker(pid)]

    def _processes(self, name: str) -> Iterator[str]:
        """What ``/proc`` says of each of its processes."""
        pids = [self.process.pid]
        for pid in pids:
            with suppress(OSError):  # it has just ended
                yield Path(f"/proc/{pid}/{name}").read_text("ascii", errors="replace")
                for children in Path(f"/proc/{pid}/task").glob("*/children"):
                    pids += map(int, children.read_text("ascii").split())


def _is_worker(pid: int) -> bool:
    """Whether a child of a server is a worker, and not what minds their shared memory."""
    with suppress(OSError):
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


@contextmanager
def scripted_model() -> Iterator[str]:
    """A model's name up to its latency: ``http://…/{milliseconds}/v1#scripted`` completes it.

    At ``/calls`` it tells how often it was called.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        port = listening.getsockname()[1]
        process = multiprocessing.get_context("spawn").Process(
            target=_answer, args=(listening,), daemon=True
        )
        process.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()  # it holds nothing
            process.join()


def _answer(listening: socket.socket) -> None:
    """Answer as an OpenAI-compatible server, until the process is ended."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    os.setsid()  # Ctrl-C is not for us

    calls = 0

    async def completion(request: Request) -> Response:
        nonlocal calls
        calls += 1
        asked = await request.json()
        task = asked["messages"][-1]["content"]
        reply = next(reply for name, reply in _REPLIES.items() if f"task now: {name}" in task)
        await asyncio.sleep(request.path_params["milliseconds"] / 1000)
        if asked.get("stream"):
            return StreamingResponse(_pieces(json.dumps(reply)), media_type="text/event-stream")
        return JSONResponse(_payload(json.dumps(reply)))

    async def called(_: Request) -> JSONResponse:
        return JSONResponse(calls)

    routes = [
        Route("/{milliseconds:int}/v1/chat/completions", completion, methods=["POST"]),
        Route("/calls", called),
    ]
    config = uvicorn.Config(Starlette(routes=routes), log_level="critical", lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])


def _payload(text: str) -> dict[str, object]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


async def _pieces(text: str) -> AsyncIterator[str]:
    """A reply as a stream, a word at a time."""
    head = {"id": "scripted", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    for word in [*re.findall(r"\S+\s*", text), ""]:
        choice = {"index": 0, "delta": {"content": word}, "finish_reason": None if word else "stop"}
        yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
        await asyncio.sleep(_PIECE_SECONDS)
    yield "data: [DONE]\n\n"


@contextmanager
def served(folder: Path, *, storage: str, workers: int, jobs: int) -> Iterator[Served]:
    """``planweave serve`` on loopback while the block runs."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = {name: value for name, value in os.environ.items() if "PLANWEAVE_SERVE_" not in name}
    environment = own | {
        "PLANWEAVE_STATE_DIR": str(folder / "state"),
        "PLANWEAVE_CACHE_DIR": str(folder / "cache"),
        "PLANWEAVE_DATA_DIR": str(folder / "data"),
        "PLANWEAVE_RESPONSE_CACHE": "off",
        "PLANWEAVE_SERVE_URL": "" if storage == "sqlite" else storage,
        "PLANWEAVE_SERVE_JOBS": str(jobs),
        "PLANWEAVE_SERVE_DRAIN_SECONDS": "1",
    }
    serve = [sys.executable, "-c", "from planweave.apps.cli.main import main; main()", "serve"]
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own words
            [*serve, "--no-token", "--port", str(port), "--workers", str(workers)],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is not for it; we end it
        )
    server = Served(f"http://127.0.0.1:{port}", process)
    try:
        _wait_until_ready(server, log)
        yield server
    finally:
        _stop(process)


def _wait_until_ready(server: Served, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        with suppress(httpx.TransportError):
            if httpx.get(f"{server.url}/ok", timeout=5).is_success:
                return
        if server.process.poll() is not None or time.monotonic() > deadline:
            lines = log.read_text("utf-8", errors="replace").strip().splitlines()
            reason = lines[-1].removeprefix("Error: ") if lines else "It printed nothing."
            raise BadInput(f"planweave serve did not start. {reason}")
        time.sleep(0.1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
