"""What every graph database does with a query and a question, whatever runs its queries."""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Unpack

from planweave.tools.cypher.correct import corrected, links, stored_values
from planweave.tools.cypher.describe import describe
from planweave.tools.cypher.guard import guard
from planweave.tools.cypher.hints import Names, hint
from planweave.tools.database import (
    Asked,
    Corrected,
    Fetched,
    Kind,
    Limits,
    QueryFailed,
    QueryResult,
    Schema,
)
from planweave.tools.invented import find_invented_name
from planweave.tools.linking import find_misspelt_value

NARROW = "Start from a node with known properties, bound the hops (*1..3), or add LIMIT."
"""How to fix a query that takes too long."""

_DESCRIBING = Limits(seconds=60, rows=100_000, characters=50_000_000)
_LOOKING = Limits(seconds=2, rows=500)
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_PROPERTY = re.compile(r"\.\s*`?([^\W\d]\w*)(?!\w*\s*[(.])")


class Graph(ABC):
    """A read-only graph; see :class:`planweave.tools.database.Database`.

    Attributes:
        checks_names: A name that the schema does not have is refused before the query runs.
        scanned: Nodes of a label, and relationships, that the schema is read from at most.
        keys: By label, the properties that identify a node.
    """

    kind: Kind = "graph"
    language: str
    checks_names: ClassVar[bool]
    scanned: ClassVar[int]
    keys: Mapping[str, Sequence[str]] = MappingProxyType({})
    _schema: Schema | None = None

    @abstractmethod
    def close(self) -> None:
        """Release what is open; safe to call twice."""

    @abstractmethod
    def ask(self, statement: str, limits: Limits, *, own: bool = False) -> Fetched:
        """Run a statement that only reads; ``own``: it is ours, and need not be checked again."""

    def schema(self) -> Schema:
        """Describe labels and relationship types by plain Cypher; read once, then kept."""
        if self._schema is None:
            self._schema = describe(
                lambda query: self.ask(query, _DESCRIBING, own=True).rows,
                self.language,
                self.keys,
                self.scanned,
            )
        return self._schema

    def run(self, query: str, limits: Limits = Limits()) -> QueryResult:  # noqa: B008 (frozen)
        """Run one read-only query; see :class:`planweave.tools.database.Database`."""
        statement, tokens = guard(query)
        names = Names(self.schema(), tokens)
        if self.checks_names:
            names.check()
        start = time.perf_counter()
        try:
            columns, rows, total = self.ask(statement, limits)
        except QueryFailed as error:
            raise QueryFailed(error.problem, fix=_unknown(names) or error.fix) from error
        seconds = time.perf_counter() - start
        says_something = any(cell is not None for row in rows for cell in row)
        unknown = "" if says_something else _unknown(names)
        said = hint(names, rows, lambda read: self.ask(read, _LOOKING, own=True).rows)
        return QueryResult(
            query=statement,
            columns=tuple(columns),
            rows=tuple(tuple(row) for row in rows),
            total_rows=total,
            seconds=seconds,
            hint=f"{unknown} {said}".strip(),
        )

    def corrected(self, query: str, **asked: Unpack[Asked]) -> Corrected:
        """Correct a query by schema, data and question; clock and ranking change nothing here."""
        values = stored_values(self.schema(), self.run)
        return corrected(query, self.schema(), values, asked.get("question", ""))

    def linked(self, question: str) -> list[str]:
        """Lines that say which stored values and which names a question speaks of."""
        return links(question, self.schema(), self.run)

    def misspelt(self, question: str) -> tuple[str, str]:
        """Words of a question that are nearly a stored value, and that value; or nothing."""
        return find_misspelt_value(question, self.schema(), stored_values(self.schema(), self.run))

    def invented(self, query: str, question: str, explained: str = "") -> str:
        """A property that only the question has; see :class:`planweave.tools.database.Database`."""
        properties = _PROPERTY.findall(_STRING.sub("", query))
        return find_invented_name(properties, question, self.schema(), explained=explained)


def _unknown(names: Names) -> str:
    """The first names of a query that the schema does not have, as sentences."""
    return " ".join([" ".join(one) for one in names.problems()][:2])
