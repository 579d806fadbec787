"""What every database tool offers, relational or graph, and the errors it raises.

A database is opened from a URL or a file, describes itself in a :class:`Schema`, and runs one
read-only query at a time inside :class:`Limits`. Nothing here knows a language model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias, TypedDict, Unpack

from planweave.errors import PlanweaveError

Kind: TypeAlias = Literal["relational", "graph"]
Cell: TypeAlias = str | int | float | bool | list["Cell"] | dict[str, "Cell"] | None


class DatabaseUnavailable(PlanweaveError):
    """The database is missing, the URL is wrong, or the server does not answer."""

    elsewhere = "The database cannot be used at present."


class RoleTooPowerful(DatabaseUnavailable):
    """The server's role may do more than read; ``remedy`` is SQL that makes one which may not."""

    def __init__(self, problem: str, *, fix: str = "", remedy: str = "") -> None:
        super().__init__(problem, fix=fix)
        self.remedy = remedy


class QueryRefused(PlanweaveError):
    """The guard will not run this query: it is not one plain read."""

    exit_code = 2


class QueryTimeout(PlanweaveError):
    """The query ran past its time limit and was stopped."""

    exit_code = 3


class QueryFailed(PlanweaveError):
    """The engine rejected the query; ``fix`` names what it could have meant."""

    exit_code = 4


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds on one query; ``owner`` is whose share of what is shared it uses."""

    seconds: float = 10.0
    rows: int = 50
    characters: int = 4_000
    owner: str = ""


class Fetched(NamedTuple):
    """What an engine gave: rows cut to the limits, and how many there are if that is known."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    total: int | None


@dataclass(frozen=True, kw_only=True)
class QueryResult:
    """What a query gave back, already cut to the limits.

    Attributes:
        query: The statement that was executed.
        columns: Column names, in order.
        rows: At most ``Limits.rows`` rows.
        total_rows: Rows the query produced, or None when the engine was stopped before the end.
        seconds: Wall time of the execution.
        hint: For an empty or suspicious result, what a reader could try next.
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
        """The texts in the first column."""
        return tuple(row[0] for row in self.rows if isinstance(row[0], str))


class Asked(TypedDict, total=False):
    """What a query is corrected by.

    Attributes:
        question: What is asked.
        instructions: What the words of the question mean.
        now: The moment of the question; the database's own clock if empty.
        ranks: The query ranks options: no columns are added to it.
    """

    question: str
    instructions: str
    now: str
    ranks: bool


class Corrected(NamedTuple):
    """A query as the schema admits it, what was changed for that, and what the data speaks against.

    A doubt names a value that the query looks for and its column does not hold.
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
    """One column or property: its name, engine type, and a few values it takes.

    ``comment`` is what the database's owner wrote about it, where the catalogue keeps that.
    ``references`` names the key that a column refers to (``table.column``): by a foreign key or,
    in a table that declares none, because all its values are values of that key.
    """

    name: str
    type: str
    key: bool = False
    references: str = ""
    samples: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class Entity:
    """One table, node label or relationship type.

    ``start`` and ``end`` are the labels a relationship type runs between; empty for the others.
    """

    name: str
    kind: Literal["table", "view", "node", "relationship"]
    fields: tuple[Field, ...]
    count: int | None = None
    start: tuple[str, ...] = ()
    end: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Schema:
    """What a database holds."""

    language: str
    entities: tuple[Entity, ...] = field(default_factory=tuple)


class Database(Protocol):
    """A read-only database, safe by itself."""

    kind: Kind
    language: str
    """What the model must write, dialect included: ``SQL (SQLite)``, ``Cypher (Neo4j)`` …"""

    def schema(self) -> Schema:
        """Describe tables or labels, typed columns, keys, directions, counts and samples."""

    def run(self, query: str, limits: Limits = Limits()) -> QueryResult:
        """Run one read-only query.

        Raises:
            QueryRefused: The guard found anything but a single plain read.
            QueryTimeout: The time limit passed.
            QueryFailed: The engine rejected the query.
            DatabaseUnavailable: The connection is gone.
        """

    def corrected(self, query: str, **asked: Unpack[Asked]) -> Corrected:
        """What schema and data alone correct in a query that a model wrote."""

    def linked(self, question: str) -> list[str]:
        """Lines that say which stored values and which names a question speaks of."""

    def misspelt(self, question: str) -> tuple[str, str]:
        """Words of a question that are nearly a stored value, and that value; or nothing."""

    def invented(self, query: str, question: str, explained: str = "") -> str:
        """A name that a query takes from the question and the database does not have; or nothing.

        Args:
            query: One that cannot be read has none.
            question: In the user's words.
            explained: Rules and instructions, whose words are known from there.
        """

    def close(self) -> None:
        """Release connections; safe to call twice."""
