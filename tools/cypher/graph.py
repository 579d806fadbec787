"""The part of a graph database that does not depend on the engine."""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Unpack

from planweave.tools.cypher.correct import correct_query, look_up_values, quote_text
from planweave.tools.cypher.describe import describe_graph
from planweave.tools.cypher.guard import guard
from planweave.tools.cypher.hints import explain_result
from planweave.tools.cypher.resolved import ResolvedQuery
from planweave.tools.database import (
    Asked,
    Corrected,
    Fetched,
    Kind,
    Limits,
    QueryFailed,
    QueryResult,
    QueryTimeout,
    Schema,
)
from planweave.tools.invented import find_invented_name
from planweave.tools.linking import Values, describe_mentions, find_misspelt_value

_SCHEMA_LIMITS = Limits(seconds=60, rows=100_000, characters=50_000_000)
_HINT_LIMITS = Limits(seconds=2, rows=500)
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_PROPERTY = re.compile(r"\.\s*`?([^\W\d]\w*)(?!\w*\s*[(.])")


class Graph(ABC):
    """A read-only graph; see :class:`planweave.tools.database.Database`.

    Attributes:
        checks_names: Whether a name that the schema does not have is refused before the query
            runs.
        scanned: Most nodes of a label, and most relationships, that the schema is read from.
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
        """Release connections or processes; safe to call twice."""

    @abstractmethod
    def fetch(self, statement: str, limits: Limits, *, is_trusted: bool = False) -> Fetched:
        """Run a statement that only reads; a trusted statement is not checked again."""

    def schema(self) -> Schema:
        """Labels and relationship types; read once, then cached."""
        if self._schema is None:
            self._schema = describe_graph(
                lambda query: self.fetch(query, _SCHEMA_LIMITS, is_trusted=True).rows,
                self.language,
                self.keys,
                self.scanned,
            )
        return self._schema

    def run(self, query: str, limits: Limits = Limits()) -> QueryResult:  # noqa: B008 (frozen)
        """Run one read-only query; see :class:`planweave.tools.database.Database`."""
        statement, tokens = guard(query)
        resolved = ResolvedQuery(self.schema(), tokens)
        for problem, fix in resolved.unknown_names() if self.checks_names else ():
            raise QueryFailed(problem, fix=fix)
        start = time.perf_counter()
        try:
            columns, rows, total = self.fetch(statement, limits)
        except QueryFailed as error:
            raise QueryFailed(error.problem, fix=_explain_names(resolved) or error.fix) from error
        seconds = time.perf_counter() - start
        has_value = any(cell is not None for row in rows for cell in row)
        unknown = "" if has_value else _explain_names(resolved)
        hint = explain_result(
            resolved, rows, lambda read: self.fetch(read, _HINT_LIMITS, is_trusted=True).rows
        )
        return QueryResult(
            query=statement,
            columns=tuple(columns),
            rows=tuple(tuple(row) for row in rows),
            total_rows=total,
            seconds=seconds,
            hint=f"{unknown} {hint}".strip(),
        )

    def check(self, query: str) -> None:
        """Raise if a query is not a read, or has unknown names."""
        resolved = ResolvedQuery(self.schema(), guard(query)[1])
        for problem, fix in resolved.unknown_names():
            raise QueryFailed(problem, fix=fix)

    def corrected(self, query: str, **asked: Unpack[Asked]) -> Corrected:
        """Correct a query by schema, data and question; the other settings have no effect."""
        question = asked.get("question", "")
        return correct_query(query, self.schema(), self._look_up_values(), question)

    def linked(self, question: str) -> list[str]:
        """Lines that list the stored values and the properties that a question mentions."""
        return describe_mentions(question, self.schema(), self._look_up_values(), quote=quote_text)

    def misspelt(self, question: str) -> tuple[str, str]:
        """Words of a question that nearly match a stored value, and that value; or nothing."""
        return find_misspelt_value(question, self.schema(), self._look_up_values())

    def invented(self, query: str, question: str, explained: str = "") -> str:
        """A property that only the question has; see :class:`planweave.tools.database.Database`."""
        properties = _PROPERTY.findall(_STRING.sub("", query))
        return find_invented_name(properties, question, self.schema(), explained=explained)

    def _look_up_values(self) -> Values:
        return look_up_values(self.schema(), self.run)


def _explain_names(query: ResolvedQuery) -> str:
    """Sentences for the first two names of a query that the schema does not have."""
    return " ".join([" ".join(problem) for problem in query.unknown_names()][:2])


def query_timeout(reason: str, limits: Limits) -> QueryTimeout:
    """The error of a query that was stopped."""
    return QueryTimeout(
        f"The query {reason}; it was stopped ({limits.seconds:g} s).",
        fix="Start from a node with known properties, bound the hops (*1..3), or add LIMIT.",
    )
