"""A graph from a ``.cql`` script, held by a process of its own."""

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import cast

from planweave.tools.cypher.describe import describe
from planweave.tools.cypher.graph import Graph
from planweave.tools.cypher.guard import guard
from planweave.tools.cypher.hints import Names, hint
from planweave.tools.cypher.own import rewritten
from planweave.tools.cypher.process import Worker
from planweave.tools.cypher.tokens import tokenize
from planweave.tools.database import (
    Cell,
    DatabaseUnavailable,
    Limits,
    QueryFailed,
    QueryResult,
    QueryTimeout,
    Schema,
)
from planweave.tools.process import ProcessEnded
from planweave.tools.slots import Slots

_DESCRIBING = Limits(seconds=60, rows=100_000, characters=50_000_000)
_NARROW = "Start from a node with known properties, bound the hops (*1..3), or add LIMIT."


class EmbeddedCypher(Graph):
    """A read-only graph loaded from a script of Cypher statements.

    It may be shared between threads; its queries run one after the other, those of different
    owners in turn.
    """

    language = "Cypher (Neo4j)"

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise DatabaseUnavailable(
                f"There is no graph script at {path}.", fix="Give the path of a .cql file."
            )
        self._path = path.resolve()
        self._lock = Lock()
        self._turns = Slots(most=1, share=1)
        self._worker: Worker | None = Worker(self._path)
        self._keys = cast("dict[str, list[str]]", self._worker.found["keys"])
        self._schema: Schema | None = None

    def schema(self) -> Schema:
        """Describe labels and relationship types; read once, then kept."""
        if self._schema is None:
            self._schema = describe(
                lambda query: self._ask(query, _DESCRIBING)[1],
                self.language,
                self._keys,
            )
        return self._schema

    def run(self, query: str, limits: Limits = Limits()) -> QueryResult:  # noqa: B008 (frozen)
        """Run one read-only query; see :class:`planweave.tools.database.Database`."""
        statement, tokens = guard(query)
        names = Names(self.schema(), tokens)
        names.check()
        start = time.perf_counter()
        columns, rows, total = self._ask(statement, limits)
        seconds = time.perf_counter() - start
        return QueryResult(
            query=statement,
            columns=tuple(columns),
            rows=tuple(tuple(row) for row in rows),
            total_rows=total,
            seconds=seconds,
            hint=hint(names, rows, lambda read: self._ask(read, Limits(seconds=1, rows=500))[1]),
        )

    def close(self) -> None:
        """End the process; safe to call twice."""
        with self._lock:
            if self._worker:
                self._worker.stop()
            self._worker = None

    def _ask(
        self, query: str, limits: Limits
    ) -> tuple[Sequence[str], Sequence[Sequence[Cell]], int]:
        request = {
            "query": rewritten(query, tokenize(query)),
            "rows": limits.rows,
            "characters": limits.characters,
        }
        end = time.monotonic() + limits.seconds
        with self._turns.taken(limits.owner, limits.seconds), self._lock:
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
        columns, rows = (
            cast("list[str]", answer["columns"]),
            cast("list[list[Cell]]", answer["rows"]),
        )
        return columns, rows, cast("int", answer["total"])


def _stopped(reason: str, limits: Limits) -> QueryTimeout:
    return QueryTimeout(f"The query {reason}; it was stopped ({limits.seconds:g} s).", fix=_NARROW)


def _failed(message: str) -> QueryFailed:
    lines = message.splitlines() or ["no reason given"]
    said = lines[0].removeprefix("Cypher ").rstrip(". ")
    fix = "Write [:TYPE*1..3] for repeated hops." if "Pattern parse error" in said else ""
    fix = "Write one of its properties." if "is no text" in said else fix
    return QueryFailed(f"The engine rejects the query: {said}.", fix=fix)
