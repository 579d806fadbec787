"""The interfaces of ``apps.protocols`` on loopback, in this process, for scripted models."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from scripted import Replies, Script, act, decide, keep, plan, register
from servers import free_port
from starlette.applications import Starlette

from planweave.apps.protocols import routes
from planweave.apps.service import service

QUERY = "SELECT name, price FROM offer ORDER BY price LIMIT 1"


def whole_run() -> Replies:
    """PlanRAG finds the cheapest of the offers."""
    return Replies(
        plan=[plan("Find the cheapest offer.")],
        action=[act("sql", QUERY), act("finish")],
        judge=[keep()],
        decide=[decide("birch", 1)],
    )


def followed_up() -> Replies:
    """ReAct finds the cheapest of the offers, and then tells its price from what it knows."""
    return Replies(
        interpret=[{"follows_up": True, "question": "How cheap is birch?"}],
        action=[act("sql", QUERY), act("finish"), act("finish")],
        decide=[decide("birch", 1), decide("5.25", 1)],
    )


@contextmanager
def served() -> Iterator[str]:
    """Serve the endpoints; gives their address."""
    port = free_port()
    config = uvicorn.Config(Starlette(routes=routes()), port=port, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


class Operator:
    """Writes down what is offered."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path = folder / "service.json"
        monkeypatch.setenv("PLANWEAVE_SERVICE", str(self._path))

    def offers(
        self, script: Script, *, more: Mapping[str, object] | None = None, **context: object
    ) -> None:
        """Offer a scripted model with these settings of every run."""
        chosen = {"context": {"model": register(script), **context}, **(more or {})}
        self._path.write_text(json.dumps(chosen))
        service.cache_clear()
