"""Reads the database scripts of a data set: SQL or Cypher text to a :class:`World`.

The readers know the statements that the published layout uses (and that
:mod:`planweave.simulators.tables` writes), fix the typos the published files have, and refuse
everything else by file and line: every statement becomes one table or one row, or an error.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from planweave.errors import BadInput
from planweave.simulators.tables import (
    Column,
    ColumnType,
    GraphMapping,
    NodeLabel,
    RelationshipType,
    Row,
    Table,
    Value,
    World,
)

TYPOS = {"has_has_merchant": "has_merchant"}
"""Column names as some published files spell them, and what they mean."""


class ScriptError(BadInput):
    """A database script holds something that cannot be read."""


class _Statement(NamedTuple):
    text: str
    line: int


# Possessive quantifiers: a statement is found in one pass, whatever it holds.
_STRING = r"'(?:[^'\\]|''|\\.)*+'|\"(?:[^\"\\]|\"\"|\\.)*+\""
_STATEMENT = re.compile(rf"(?:\s++|(?:--|//)[^\n]*+)*+((?:[^;\"']++|{_STRING})*+);", re.DOTALL)
_BLANK = re.compile(r"(?:\s++|(?:--|//)[^\n]*+)*+\Z")
_TOKEN = re.compile(rf"\s*+({_STRING}|[^,\s]++)\s*+(?:,|\Z)", re.DOTALL)
_CREATE_TABLE = re.compile(r"CREATE\s+TABLE\s+(\w+)\s*\((.*)\)\Z", re.IGNORECASE | re.DOTALL)
_INSERT = re.compile(
    r"INSERT\s+INTO\s+(\w+)\s*\(([^()]*)\)\s*VALUES\s*\((.*)\)\Z", re.IGNORECASE | re.DOTALL
)
_COLUMN = re.compile(r"\s*(\w+)\s+(\w+)(?:\s+PRECISION)?\s*(?:\(\d+\))?\s*\Z", re.IGNORECASE)
_PRIMARY = re.compile(r"\s*PRIMARY\s+KEY\s*\(([^()]*)\)\s*\Z", re.IGNORECASE)
_FOREIGN = re.compile(
    r"\s*FOREIGN\s+KEY\s*\(\s*(\w+)\s*\)\s*REFERENCES\s+(\w+)\s*\(\s*\w+\s*\)\s*\Z", re.IGNORECASE
)
_PROPERTIES = rf"\{{((?:[^{{}}\"']++|{_STRING})*+)\}}"
_NODE = rf"\(\s*([^\s:(){{}}]*)\s*:\s*(\w+)\s*{_PROPERTIES}\s*\)"
_CREATE_NODE = re.compile(rf"CREATE\s*{_NODE}\Z", re.IGNORECASE | re.DOTALL)
_CREATE_EDGE = re.compile(
    rf"MATCH\s*{_NODE}\s*,\s*{_NODE}\s*CREATE\s*\(\s*([^\s:(){{}}]+)\s*\)\s*-\s*"
    rf"\[\s*\w*\s*:\s*(\w+)\s*(?:{_PROPERTIES})?\s*\]\s*->\s*\(\s*([^\s:(){{}}]+)\s*\)\Z",
    re.IGNORECASE | re.DOTALL,
)
_PAIR = re.compile(rf"\s*+(\w+)\s*:\s*({_STRING}|[^,\s]++)\s*+(?:,|\Z)", re.DOTALL)
_TYPES: Mapping[str, ColumnType] = {
    **dict.fromkeys(("VARCHAR", "CHAR", "TEXT"), "text"),
    **dict.fromkeys(("INT", "INTEGER", "BIGINT"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "REAL"), "real"),
    **dict.fromkeys(("BOOLEAN", "BOOL"), "boolean"),
}


def read_sql(text: str, name: str = "script") -> World:
    """Tables and rows of a SQL script of ``CREATE TABLE`` and ``INSERT`` statements.

    Args:
        text: The script, with single or double quotes around strings.
        name: What to call the script in an error.

    Raises:
        ScriptError: Something is not understood; names file and line.
    """
    tables: dict[str, Table] = {}
    rows: dict[str, list[Row]] = {}
    # Each INSERT head is looked up once: (table, order of its columns, converters).
    heads: dict[tuple[str, str], _Head] = {}
    for statement in _statements(text, name):
        with _located(name, statement):
            if insert := _INSERT.match(statement.text):
                key = insert[1], insert[2]
                head = heads.get(key) or heads.setdefault(key, _Head.of(tables, *key))
                rows[head.table].append(head.row(insert[3]))
            elif create := _CREATE_TABLE.match(statement.text):
                table = _table(_corrected(create[1]), create[2])
                if table.name in tables:
                    raise BadInput(f"table {table.name} is created twice")
                tables[table.name], rows[table.name] = table, []
            else:
                raise BadInput("this is neither CREATE TABLE nor INSERT")
    return _filled(tables, rows, name)


def read_cypher(
    text: str, tables: Mapping[str, Table], graph: GraphMapping, name: str = "script"
) -> World:
    """The same world from a Cypher script of ``CREATE`` and ``MATCH … CREATE`` statements.

    Args:
        text: The script, one node or relationship per statement.
        tables: The typed tables that the graph stands for; their rows are ignored.
        graph: Which labels and types stand for which table.
        name: What to call the script in an error.

    Raises:
        ScriptError: Something is not understood, or a relationship names a node that was not
            created before it; names file and line.
    """
    rows: dict[str, list[Row]] = {table: [] for table in tables}
    known: dict[str, set[Value]] = {node.label: set() for node in graph.nodes}
    reader = _CypherReader(tables, graph)
    for statement in _statements(text, name):
        with _located(name, statement):
            if match := _CREATE_EDGE.match(statement.text):
                table, row = reader.edge(match, known)
            elif match := _CREATE_NODE.match(statement.text):
                table, row = reader.node(match, known)
            else:
                raise BadInput("this is neither CREATE of a node nor MATCH … CREATE")
            rows[table].append(row)
    return _filled(tables, rows, name)


def _filled(tables: Mapping[str, Table], rows: Mapping[str, list[Row]], name: str) -> World:
    try:
        return World.of(table.with_rows(rows[table.name]) for table in tables.values())
    except BadInput as error:
        raise ScriptError(f"{name}: {error.problem}", fix=error.fix) from None


def _statements(text: str, name: str) -> Iterator[_Statement]:
    """Split at semicolons outside strings; comments and blank lines are left out."""
    end, line = 0, 1
    while match := _STATEMENT.match(text, end):
        line += text.count("\n", end, match.start(1))
        yield _Statement(match[1].strip(), line)
        line += text.count("\n", match.start(1), match.end())
        end = match.end()
    if not _BLANK.match(text, end):
        line += text.count("\n", end, len(text) - len(text[end:].lstrip()))
        raise ScriptError(
            f"{name}, line {line}: the last statement does not end.",
            fix="The file is cut off or a quote is missing: get it again.",
        )


class _located:  # noqa: N801 - reads as the statement it is
    """Turns an error about a statement into one that names file, line and statement."""

    def __init__(self, name: str, statement: _Statement) -> None:
        self.name, self.statement = name, statement

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, BadInput):
            text = " ".join(self.statement.text.split())
            raise ScriptError(
                f"{self.name}, line {self.statement.line}: {error.problem}: {text[:120]!r}.",
                fix="Correct that statement, or get the file again.",
            ) from None


def _corrected(identifier: str) -> str:
    return TYPOS.get(identifier, identifier)


def _table(name: str, body: str) -> Table:
    """A table from what is between the brackets of CREATE TABLE."""
    columns: list[Column] = []
    key: tuple[str, ...] = ()
    references: dict[str, str] = {}
    for part in re.split(r",(?![^()]*\))", body):
        if primary := _PRIMARY.match(part):
            key = tuple(_corrected(column.strip()) for column in primary[1].split(","))
        elif foreign := _FOREIGN.match(part):
            references[_corrected(foreign[1])] = foreign[2]
        elif (column := _COLUMN.match(part)) and column[2].upper() in _TYPES:
            columns.append(Column(_corrected(column[1]), _TYPES[column[2].upper()]))
        else:
            raise BadInput(f"{part.strip()!r} is no column that is understood")
    linked = (Column(c.name, c.type, references.get(c.name, "")) for c in columns)
    return Table(name, tuple(linked), key)


def _literal(token: str, escapes: Mapping[str, str]) -> Value:
    """A string, boolean or number as it is written."""
    if token[0] in "'\"":
        inner = token[1:-1]
        if token[0] * 2 in inner:
            inner = inner.replace(token[0] * 2, token[0])
        if "\\" in inner and escapes:
            inner = re.sub(r"\\(.)", lambda found: escapes.get(found[1], found[1]), inner)
        return inner
    if token.upper() in ("TRUE", "FALSE"):
        return token.upper() == "TRUE"
    try:
        return int(token)
    except ValueError:
        pass
    try:
        return float(token)
    except ValueError:
        raise BadInput(f"{token!r} is neither text nor number") from None


def _text(value: Value) -> Value:
    if not isinstance(value, str):
        raise BadInput(f"{value!r} is not text")
    return value


def _integer(value: Value) -> Value:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadInput(f"{value!r} is not a whole number")
    return value


def _real(value: Value) -> Value:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{value!r} is not a number")
    return float(value)


def _boolean(value: Value) -> Value:
    # The published .cql files write has_merchant as the text "True" or "False".
    if isinstance(value, str) and value.upper() in ("TRUE", "FALSE"):
        return value.upper() == "TRUE"
    if not isinstance(value, bool):
        raise BadInput(f"{value!r} is neither true nor false")
    return value


_CONVERTERS: Mapping[ColumnType, Callable[[Value], Value]] = {
    "text": _text,
    "integer": _integer,
    "real": _real,
    "boolean": _boolean,
}
_CYPHER_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class _Head:
    """The head of an INSERT: its table, and for each column of it the place and converter."""

    table: str
    order: tuple[tuple[int, Callable[[Value], Value]], ...]

    @classmethod
    def of(cls, tables: Mapping[str, Table], name: str, columns: str) -> "_Head":
        if name not in tables:
            raise BadInput(f"table {name} is not created before")
        given = [_corrected(column.strip()) for column in columns.split(",")]
        table = tables[name]
        if sorted(given) != sorted(table.names):
            raise BadInput(f"the columns of {name} are {', '.join(table.names)}")
        order = ((given.index(c.name), _CONVERTERS[c.type]) for c in table.columns)
        return cls(name, tuple(order))

    def row(self, values: str) -> Row:
        tokens = _tokens(values)
        if len(tokens) != len(self.order):
            raise BadInput(f"{len(tokens)} values for {len(self.order)} columns")
        return tuple(convert(_literal(tokens[place], {})) for place, convert in self.order)


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    end = 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        if not match:
            raise BadInput("the list of values is not understood")
        tokens.append(match[1])
        end = match.end()
    return tokens


def _pairs(text: str) -> dict[str, Value]:
    pairs: dict[str, Value] = {}
    end = 0
    while text[end:].strip():
        match = _PAIR.match(text, end)
        if not match:
            raise BadInput("the properties are not understood")
        pairs[_corrected(match[1])] = _literal(match[2], _CYPHER_ESCAPES)
        end = match.end()
    return pairs


class _CypherReader:
    """Turns matched statements into rows of the tables that the graph stands for."""

    def __init__(self, tables: Mapping[str, Table], graph: GraphMapping) -> None:
        self.tables = tables
        self.nodes = {node.label: node for node in graph.nodes}
        self.types = {relationship.type: relationship for relationship in graph.relationships}

    def node(self, match: re.Match[str], known: Mapping[str, set[Value]]) -> tuple[str, Row]:
        node = self._label(match[2])
        pairs = _pairs(match[3])
        table = self.tables[node.table]
        row = _row(
            table, {column: pairs.pop(node.property(column), None) for column in table.names}
        )
        _refuse_rest(pairs)
        known[node.label].add(row[table.names.index(node.key)])
        return table.name, row

    def edge(self, match: re.Match[str], known: Mapping[str, set[Value]]) -> tuple[str, Row]:
        relationship = self._type(match[8])
        table = self.tables[relationship.table]
        ends = {match[1]: (match[2], match[3]), match[4]: (match[5], match[6])}
        found: dict[str, Value | None] = {}
        for variable, (column, label) in zip(
            (match[7], match[10]), (relationship.start, relationship.end), strict=True
        ):
            if ends.get(variable, ("", ""))[0] != label:
                raise BadInput(f"{relationship.type} does not run between these labels")
            found[column] = self._key(self._label(label), ends[variable][1], known)
        pairs = _pairs(match[9] or "")
        for column in table.names:
            found.setdefault(column, pairs.pop(column, None))
        _refuse_rest(pairs)
        return table.name, _row(table, found)

    def _key(self, node: NodeLabel, text: str, known: Mapping[str, set[Value]]) -> Value:
        pairs = _pairs(text)
        value = pairs.pop(node.property(node.key), None)
        _refuse_rest(pairs)
        if value not in known[node.label]:
            raise BadInput(f"no {node.label} {value!r} is created before")
        assert value is not None  # noqa: S101 - None is never known
        return value

    def _label(self, label: str) -> NodeLabel:
        if label not in self.nodes:
            raise BadInput(f"the label {label} is not known")
        return self.nodes[label]

    def _type(self, name: str) -> RelationshipType:
        if name not in self.types:
            raise BadInput(f"the relationship type {name} is not known")
        return self.types[name]


def _row(table: Table, found: Mapping[str, Value | None]) -> Row:
    row: list[Value] = []
    for column in table.columns:
        value = found[column.name]
        if value is None:
            raise BadInput(f"{column.name} is missing")
        row.append(_CONVERTERS[column.type](value))
    return tuple(row)


def _refuse_rest(pairs: Mapping[str, Value]) -> None:
    if pairs:
        raise BadInput(f"{', '.join(pairs)} is not known here")
