"""The interface of relational and graph databases, and their errors.

A database is opened from a URL or a file, describes itself in a :class:`Schema`, and runs one
read-only query at a time within :class:`Limits`. No part of it needs a language model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias, TypedDict, Unpack

from planweave.errors import BadInput, PlanweaveError

Kind: TypeAlias = Literal["relational", "graph"]
Cell: TypeAlias = str | int | float | bool | list["Cell"] | dict[str, "Cell"] | None


class DatabaseUnavailable(PlanweaveError):
    """The database is missing, the URL is wrong, or the server does not answer."""

    elsewhere = "The database cannot be used at present."


class DatabaseMissing(DatabaseUnavailable, BadInput):
    """There is no such file: whoever named it can correct the name."""

    def of_operator(self) -> DatabaseUnavailable:
        """The error for a caller if the operator has named the file."""
        return DatabaseUnavailable(self.problem, fix=self.fix)


class RoleTooPowerful(DatabaseUnavailable):
    """The server's role may do more than read; ``remedy`` is SQL that creates a read-only role."""

    def __init__(self, problem: str, *, fix: str = "", remedy: str = "") -> None:
        super().__init__(problem, fix=fix)
        self.remedy = remedy


class QueryRefused(PlanweaveError):
    """The guard refuses the query, because it is not one read-only statement."""

    exit_code = 2


class QueryTimeout(PlanweaveError):
    """The query exceeded its time limit and was stopped."""

    exit_code = 3


class QueryFailed(PlanweaveError):
    """The engine rejected the query; ``fix`` suggests what it may have meant."""

    exit_code = 4


class QueryEmpty(QueryFailed):
    """There is no query."""

    exit_code = 1


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one query; it uses ``owner``'s share of shared resources."""

    seconds: float = 10.0
    rows: int = 50
    characters: int = 4_000
    owner: str = ""


class Fetched(NamedTuple):
    """The result of an engine: rows cut to the limits, and their total number if known."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    total: int | None


@dataclass(frozen=True, kw_only=True)
class QueryResult:
    """The result of a query, cut to the limits.

    Attributes:
        query: The statement that was executed.
        columns: Column names, in order.
        rows: At most ``Limits.rows`` rows.
        total_rows: Number of rows of the query; None if the engine was stopped before the end.
        seconds: Wall time of the execution.
        hint: A suggestion for an empty or suspicious result.
    """

    query: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total_rows: int | None
    seconds: float
    hint: str = ""

    @property
    def truncated(self) -> bool:
        """Whether rows are missing."""
        return self.total_rows is None or self.total_rows > len(self.rows)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the first column."""
        return tuple(row[0] for row in self.rows if isinstance(row[0], str))


class Asked(TypedDict, total=False):
    """What the correction of a query uses.

    Attributes:
        question: The question.
        instructions: Definitions of words of the question.
        now: The time of the question; by default, the database's clock.
        ranks: Whether the query ranks options, so that no columns are added to it.
    """

    question: str
    instructions: str
    now: str
    ranks: bool


class Corrected(NamedTuple):
    """A corrected query, its changes, and doubts about it.

    A doubt names a value that the query looks for but its column lacks.
    """

    query: str
    changes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


class Option(NamedTuple):
    """The column whose values are the options of a decision."""

    table: str
    column: str
    is_key: bool = False


@dataclass(frozen=True, kw_only=True)
class Field:
    """A column or property: its name, engine type, and some of its values.

    ``comment`` is the owner's comment in the catalogue, if any. ``references`` names the key that
    the column refers to (``table.column``): by a foreign key or, in a table without any, because
    all its values are values of that key.
    """

    name: str
    type: str
    key: bool = False
    references: str = ""
    samples: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class Entity:
    """A table, node label or relationship type.

    ``start`` and ``end`` are the labels that a relationship type connects; empty for the others.
    """

    name: str
    kind: Literal["table", "view", "node", "relationship"]
    fields: tuple[Field, ...]
    count: int | None = None
    start: tuple[str, ...] = ()
    end: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The tables, or labels and relationship types, of a database."""

    language: str
    entities: tuple[Entity, ...] = field(default_factory=tuple)

    @property
    def has_only_empty_tables(self) -> bool:
        """Whether there are tables, and all of them are known to have no rows."""
        return bool(self.entities) and all(entity.count == 0 for entity in self.entities)


class Database(Protocol):
    """A read-only database."""

    kind: Kind
    language: str
    """The query language with its dialect: ``SQL (SQLite)``, ``Cypher (Neo4j)`` …"""

    def schema(self) -> Schema:
        """Describe tables or labels, typed columns, keys, directions, counts and samples."""

    def run(self, query: str, limits: Limits = Limits()) -> QueryResult:
        """Run one read-only query.

        Raises:
            QueryRefused: The query is not a single read-only statement.
            QueryTimeout: The query exceeded its time limit.
            QueryFailed: The engine rejected the query.
            DatabaseUnavailable: The connection is lost.
        """

    def check(self, query: str) -> None:
        """Raise if a query is not a single read or cannot be executed; it is not run.

        Raises:
            QueryRefused: The query is not a single read-only statement.
            QueryFailed: It has unknown names, or the engine cannot plan it.
        """

    def corrected(self, query: str, **asked: Unpack[Asked]) -> Corrected:
        """Correct a query of a model by schema and data, without a model."""

    def linked(self, question: str) -> list[str]:
        """Describe the stored values and the names that a question mentions, in lines."""

    def misspelt(self, question: str) -> tuple[str, str]:
        """Find words of a question that are nearly a stored value, and that value; may be empty."""

    def invented(self, query: str, question: str, explained: str = "") -> str:
        """Find a name in a query that comes from the question and not from the database.

        Args:
            query: A query; one that cannot be parsed has no such name.
            question: The question.
            explained: Rules and instructions; their words do not count.
        """

    def close(self) -> None:
        """Release connections; safe to call twice."""
