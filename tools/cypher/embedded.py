"""A graph from a ``.cql`` script, held by a process of its own."""

import time
from pathlib import Path
from threading import Lock
from typing import cast

from planweave.tools.cypher.graph import NARROW, Graph
from planweave.tools.cypher.own import rewritten
from planweave.tools.cypher.tokens import tokenize
from planweave.tools.database import (
    Cell,
    DatabaseUnavailable,
    Fetched,
    Limits,
    QueryFailed,
    QueryTimeout,
)
from planweave.tools.process import HelperProcess, ProcessEnded
from planweave.tools.slots import Slots

_LOADING = 120.0  # seconds
# Each thread of the engine would set 64 MB aside: on many processors all that it may take.
_ENVIRONMENT = {"RUST_BACKTRACE": "0", "MALLOC_ARENA_MAX": "2"}


class Worker(HelperProcess):
    """A process that holds one graph and answers one query at a time."""

    def __init__(self, path: Path) -> None:
        super().__init__("planweave.tools.cypher.worker", _ENVIRONMENT, bare=True)
        try:
            self.found = self.ask({"path": str(path)}, _LOADING)
        except ProcessEnded as error:
            reason = "takes too long" if error.late else "needs too much memory"
            raise DatabaseUnavailable(
                f"Loading {path.name} {reason}.", fix="Load it into a Neo4j server instead."
            ) from error
        if "error" in self.found:
            self.stop()
            fix = str(self.found.get("fix", ""))
            raise DatabaseUnavailable(str(self.found["message"]), fix=fix)


class EmbeddedCypher(Graph):
    """A read-only graph loaded from a script of Cypher statements.

    It may be shared between threads; its queries run one after the other, those of different
    owners in turn.
    """

    language = "Cypher (Neo4j)"
    checks_names = True  # the engine makes up what it does not know
    scanned = 100_000_000

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise DatabaseUnavailable(
                f"There is no graph script at {path}.", fix="Give the path of a .cql file."
            )
        self._path = path.resolve()
        self._lock = Lock()
        self._turns = Slots(most=1, share=1)
        self._worker: Worker | None = Worker(self._path)
        self.keys = cast("dict[str, list[str]]", self._worker.found["keys"])

    def close(self) -> None:
        """End the process; safe to call twice."""
        with self._lock:
            if self._worker:
                self._worker.stop()
            self._worker = None

    def ask(self, statement: str, limits: Limits, *, own: bool = False) -> Fetched:
        """Ask the process; see :class:`Graph`."""
        del own
        request = {
            "query": rewritten(statement, tokenize(statement)),
            "rows": limits.rows,
            "characters": limits.characters,
        }
        end = time.monotonic() + limits.seconds
        with self._turns.take(limits.owner, limits.seconds), self._lock:
            left = max(end - time.monotonic(), 0.001)
            self._worker = self._worker or Worker(self._path)  # ended by an earlier query
            try:
                answer = self._worker.ask({**request, "seconds": left}, left)
            except ProcessEnded as end:
                self._worker = None
                reason = "takes too long" if end.late else "needs too much memory"
                raise _stopped(reason, limits) from end
        if answer.get("error") == "timeout":
            raise _stopped("takes too long", limits)
        if "error" in answer:
            raise _failed(str(answer["message"]))
        columns = cast("list[str]", answer["columns"])
        rows = cast("list[list[Cell]]", answer["rows"])
        return Fetched(columns, rows, cast("int", answer["total"]))


def _stopped(reason: str, limits: Limits) -> QueryTimeout:
    return QueryTimeout(f"The query {reason}; it was stopped ({limits.seconds:g} s).", fix=NARROW)


def _failed(message: str) -> QueryFailed:
    lines = message.splitlines() or ["no reason given"]
    said = lines[0].removeprefix("Cypher ").rstrip(". ")
    fix = "Write [:TYPE*1..3] for repeated hops." if "Pattern parse error" in said else ""
    fix = "Write one of its properties." if "is no text" in said else fix
    return QueryFailed(f"The engine rejects the query: {said}.", fix=fix)
