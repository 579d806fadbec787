"""A graph from a ``.cql`` script, in a separate process."""

import time
from pathlib import Path
from threading import Lock
from typing import cast

from planweave.tools.cypher.graph import Graph, query_timeout
from planweave.tools.cypher.rewriting import rewrite
from planweave.tools.cypher.tokens import tokenize
from planweave.tools.database import (
    Cell,
    DatabaseMissing,
    DatabaseUnavailable,
    Fetched,
    Limits,
    QueryFailed,
)
from planweave.tools.process import HelperProcess, ProcessEnded
from planweave.tools.slots import Slots

_LOADING_SECONDS = 120.0
# Without this each thread of the engine would reserve 64 MB: all of its memory on many processors.
_ENVIRONMENT = {"RUST_BACKTRACE": "0", "MALLOC_ARENA_MAX": "2"}


class Worker(HelperProcess):
    """A process that loads one graph and runs one query at a time."""

    def __init__(self, path: Path) -> None:
        super().__init__("planweave.tools.cypher.worker", _ENVIRONMENT, bare=True)
        try:
            answer = self.ask({"path": str(path)}, _LOADING_SECONDS)
        except ProcessEnded as error:
            raise DatabaseUnavailable(
                f"Loading {path.name} {error.reason}.", fix="Load it into a Neo4j server instead."
            ) from error
        if "error" in answer:
            self.stop()
            raise DatabaseUnavailable(str(answer["message"]), fix=str(answer.get("fix", "")))
        self.keys = cast("dict[str, list[str]]", answer["keys"])


class EmbeddedCypher(Graph):
    """A read-only graph loaded from a script of Cypher statements.

    Threads may share it; its queries run one after the other, those of different owners in turn.
    """

    language = "Cypher (Neo4j)"
    checks_names = True  # the engine invents values for unknown names
    scanned = 100_000_000

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise DatabaseMissing(
                f"There is no graph script at {path}.", fix="Give the path of a .cql file."
            )
        self._path = path.resolve()
        self._lock = Lock()
        self._turns = Slots(most=1, share=1)
        self._worker: Worker | None = Worker(self._path)
        self.keys = self._worker.keys

    def close(self) -> None:
        """End the process; safe to call twice."""
        with self._lock:
            if self._worker:
                self._worker.stop()
            self._worker = None

    def fetch(self, statement: str, limits: Limits, *, is_trusted: bool = False) -> Fetched:
        """Run the statement in the process; see :class:`Graph`."""
        del is_trusted
        query = rewrite(statement, tokenize(statement))
        request = {"query": query, "rows": limits.rows, "characters": limits.characters}
        end = time.monotonic() + limits.seconds
        with self._turns.take(limits.owner, limits.seconds), self._lock:
            left = max(end - time.monotonic(), 0.001)
            self._worker = self._worker or Worker(self._path)  # an earlier query ended it
            try:
                answer = self._worker.ask({**request, "seconds": left}, left)
            except ProcessEnded as error:
                self._worker = None
                raise query_timeout(error.reason, limits) from error
        if answer.get("error") == "timeout":
            raise query_timeout("takes too long", limits)
        if "error" in answer:
            raise _translate_error(str(answer["message"]))
        columns = cast("list[str]", answer["columns"])
        rows = cast("list[list[Cell]]", answer["rows"])
        return Fetched(columns, rows, cast("int", answer["total"]))


def _translate_error(message: str) -> QueryFailed:
    lines = message.splitlines() or ["no reason given"]
    reason = lines[0].removeprefix("Cypher ").rstrip(". ")
    fix = "Write [:TYPE*1..3] for repeated hops." if "Pattern parse error" in reason else ""
    fix = "Write one of its properties." if "is no text" in reason else fix
    return QueryFailed(f"The engine rejects the query: {reason}.", fix=fix)
