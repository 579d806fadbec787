"""A small typed table model that is written as SQL and as Cypher.

A *world* is the data of a decision question: a few named tables with typed columns. A
:class:`GraphMapping` names the tables that are node labels or relationship types, so that the
relational and the graph version of a world always agree.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from planweave.errors import BadInput

Value: TypeAlias = str | int | float | bool
Row: TypeAlias = tuple[Value, ...]
ColumnType: TypeAlias = Literal["text", "integer", "real", "boolean"]
Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TEXT_LIMIT = 255
# Types that SQLite, PostgreSQL and MariaDB all know; a MariaDB key cannot be TEXT.
_SQL_TYPES: Mapping[ColumnType, str] = {
    "text": f"VARCHAR({_TEXT_LIMIT})",
    "integer": "BIGINT",
    "real": "DOUBLE PRECISION",
    "boolean": "BOOLEAN",
}


@dataclass(frozen=True)
class Column:
    """One column: its name, type, and the table whose key it refers to, if any."""

    name: str
    type: ColumnType
    references: str = ""


@dataclass(frozen=True)
class DataTable:
    """A named table: typed columns, the names of its key columns, and rows in order."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    rows: tuple[Row, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name in (self.name, *self.names):
            if not _IDENTIFIER.match(name):
                raise BadInput(
                    f"{name!r} cannot be the name of a table or column.",
                    fix="Use letters, digits and underscores.",
                )
        for row in self.rows:
            if len(row) != len(self.columns):
                raise BadInput(
                    f"A row of table {self.name} has {len(row)} values for {len(self.columns)} "
                    f"columns: {row}."
                )
        if self.key:
            self._refuse_duplicates()

    def _refuse_duplicates(self) -> None:
        places = [self.names.index(name) for name in self.key]
        seen: set[Row] = set()
        for row in self.rows:
            key = tuple(row[place] for place in places)
            if key in seen:
                raise BadInput(
                    f"Table {self.name} has two rows with the key {key}.",
                    fix="Keep one row for each key.",
                )
            seen.add(key)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    def with_rows(self, rows: Iterable[Row]) -> "DataTable":
        """The same table with other rows."""
        return DataTable(self.name, self.columns, self.key, tuple(rows))

    def values(self, column: str) -> list[Value]:
        """One column, in row order."""
        if column not in self.names:
            raise BadInput(
                f"Table {self.name} has no column {column}.",
                fix=f"Its columns are {', '.join(self.names)}.",
            )
        place = self.names.index(column)
        return [row[place] for row in self.rows]

    def numbers(self, column: str) -> Floats:
        """One numeric or boolean column as float64."""
        try:
            numbers = np.array(self.values(column), dtype=np.float64)
        except ValueError:
            numbers = np.array([np.nan])
        if not np.isfinite(numbers).all():
            raise BadInput(f"Column {self.name}.{column} contains something that is not a number.")
        return numbers


@dataclass(frozen=True, eq=False)
class World:
    """Named tables; compared by identity, so that prepared simulators can be cached per world."""

    tables: Mapping[str, DataTable]

    @classmethod
    def of(cls, tables: Iterable[DataTable]) -> "World":
        """Collect tables under their names."""
        return cls({table.name: table for table in tables})

    @classmethod
    def filled(cls, tables: Iterable[DataTable], rows: Iterable[Iterable[Row]]) -> "World":
        """These tables with these rows, in the same order."""
        return cls.of(table.with_rows(own) for table, own in zip(tables, rows, strict=True))

    def changed(self, **rows: Iterable[Row]) -> "World":
        """The same world with other rows in the tables of these names."""
        return World.of(t.with_rows(rows[t.name]) if t.name in rows else t for t in self)

    def __getitem__(self, name: str) -> DataTable:
        if name not in self.tables:
            raise BadInput(
                f"The database has no table {name}.",
                fix=f"It has {', '.join(self.tables) or 'no tables at all'}.",
            )
        return self.tables[name]

    def __iter__(self) -> Iterator[DataTable]:
        return iter(self.tables.values())

    @cached_property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(len(table.rows) for table in self)

    def places(self, table: str, column: str, target: str, key: str) -> Indices:
        """Row numbers in ``target`` that ``table.column`` refers to through ``target.key``."""
        index = {value: place for place, value in enumerate(self[target].values(key))}
        values = self[table].values(column)
        try:
            return np.array([index[value] for value in values], dtype=np.intp)
        except KeyError as missing:
            raise BadInput(
                f"{table}.{column} names {missing.args[0]!r}, which {target} does not have."
            ) from None


def sums(places: Indices, amounts: Floats, size: int) -> Floats:
    """Sum of the amounts at each of ``size`` places."""
    return np.bincount(places, amounts, minlength=size).astype(np.float64)


@dataclass(frozen=True)
class NodeLabel:
    """A table whose rows are nodes; ``properties`` renames columns (column → property)."""

    label: str
    table: str
    key: str
    properties: Mapping[str, str] = field(default_factory=dict)

    def property(self, column: str) -> str:
        """Name of the column in the graph."""
        return self.properties.get(column, column)


@dataclass(frozen=True)
class RelationshipType:
    """A table whose rows are relationships from ``start`` to ``end``.

    ``start`` and ``end`` pair the column with the label of the node it points to.
    """

    type: str
    table: str
    start: tuple[str, str]
    end: tuple[str, str]


@dataclass(frozen=True)
class GraphMapping:
    """The mapping between the tables of a scenario and a labelled property graph."""

    nodes: tuple[NodeLabel, ...]
    relationships: tuple[RelationshipType, ...]

    def node(self, label: str) -> NodeLabel:
        """The node label of that name."""
        for node in self.nodes:
            if node.label == label:
                return node
        raise BadInput(f"The graph has no node label {label}.")


def write_sql(world: World) -> str:
    """The world as a SQL script for SQLite, PostgreSQL and MariaDB.

    Strings are in single quotes; one statement a line, tables first.
    """
    lines = [_create_table(table, world) for table in world]
    for table in world:
        head = f"INSERT INTO {table.name}({', '.join(table.names)}) VALUES ("  # noqa: S608 - names are checked
        lines += [head + ", ".join(map(_sql_literal, row)) + ");" for row in table.rows]
    return "\n".join(lines) + "\n"


def _create_table(table: DataTable, world: World) -> str:
    parts = [f"{column.name} {_SQL_TYPES[column.type]}" for column in table.columns]
    if table.key:
        parts.append(f"PRIMARY KEY ({', '.join(table.key)})")
    for column in table.columns:
        if column.references:
            (key,) = world[column.references].key
            parts.append(f"FOREIGN KEY ({column.name}) REFERENCES {column.references} ({key})")
    return f"CREATE TABLE {table.name}({', '.join(parts)});"


def _sql_literal(value: Value) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        if re.search(r"[\\\r\n]", value):
            raise BadInput(
                f"The text {value!r} contains a backslash or a line break.",
                fix="Remove it: databases do not agree on how to write it.",
            )
        if len(value) > _TEXT_LIMIT:
            raise BadInput(
                f"The text {value[:30]!r}… has {len(value)} characters.",
                fix=f"Keep text columns to {_TEXT_LIMIT} characters.",
            )
        return "'" + value.replace("'", "''") + "'"
    return _number_literal(value)


def _number_literal(value: float) -> str:
    if not math.isfinite(value):
        raise BadInput(f"{value} is not a number that a database accepts.")
    return repr(value)


def write_cypher(world: World, mapping: GraphMapping) -> str:
    """The world as a Cypher script, one ``CREATE`` or ``MATCH … CREATE`` a line, nodes first."""
    lines: list[str] = []
    for node in mapping.nodes:
        table = world[node.table]
        names = [node.property(name) for name in table.names]
        lines += [f"CREATE (:{node.label} {_properties(names, row)});" for row in table.rows]
    for relationship in mapping.relationships:
        lines += _relationship_lines(world, mapping, relationship)
    return "\n".join(lines) + "\n"


def _relationship_lines(
    world: World, mapping: GraphMapping, relationship: RelationshipType
) -> Iterator[str]:
    table = world[relationship.table]
    ends = (relationship.start, relationship.end)
    heads = []
    for variable, (column, label) in zip("ab", ends, strict=True):
        node = mapping.node(label)
        world.places(table.name, column, node.table, node.key)
        place = table.names.index(column)
        heads.append((f"({variable}:{label} {{{node.property(node.key)}: ", place))
    rest = [i for i, name in enumerate(table.names) if name not in {column for column, _ in ends}]
    names = [table.names[i] for i in rest]
    (start, a), (end, b) = heads
    for row in table.rows:
        body = _properties(names, [row[i] for i in rest]) if names else ""
        yield (
            f"MATCH {start}{_cypher_literal(row[a])}}}), {end}{_cypher_literal(row[b])}}}) "
            f"CREATE (a)-[:{relationship.type} {body}]->(b);"
        )


def _properties(names: Iterable[str], values: Iterable[Value]) -> str:
    pairs = (f"{name}: {_cypher_literal(v)}" for name, v in zip(names, values, strict=True))
    return "{" + ", ".join(pairs) + "}"


def _cypher_literal(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
            value = value.replace(plain, escaped)
        return f'"{value}"'
    return _number_literal(value)
