"""Reads the database scripts of a data set: SQL text to a :class:`World`.

The reader knows the statements of the published layout (which :mod:`planweave.simulators.tables`
also writes) and corrects the typos of the published files. Every statement becomes one table, one
row, or an error with file and line.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from planweave.errors import BadInput
from planweave.simulators.tables import Column, ColumnType, DataTable, Row, Value, World

TYPOS = {"has_has_merchant": "has_merchant"}
"""Misspelt column names in published files, and their corrections."""


class ScriptError(BadInput):
    """A database script contains something that cannot be read."""


class _Statement(NamedTuple):
    text: str
    line: int


# Possessive quantifiers: a statement is found in one pass, whatever it contains.
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
_TYPES: Mapping[str, ColumnType] = {
    **dict.fromkeys(("VARCHAR", "CHAR", "TEXT"), "text"),
    **dict.fromkeys(("INT", "INTEGER", "BIGINT"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "REAL"), "real"),
    **dict.fromkeys(("BOOLEAN", "BOOL"), "boolean"),
}


def declare_tables(script: str) -> tuple[DataTable, ...]:
    """The tables that a script creates."""
    return tuple(read_sql(script))


def read_sql(text: str, name: str = "script") -> World:
    """The tables and rows of a SQL script with ``CREATE TABLE`` and ``INSERT`` statements.

    Strings are in single or double quotes; errors call the script ``name``.
    """
    tables: dict[str, DataTable] = {}
    rows: dict[str, list[Row]] = {}
    heads: dict[tuple[str, str], _Head] = {}  # each INSERT head is looked up once
    for statement in _split_statements(text, name):
        try:
            if insert := _INSERT.match(statement.text):
                key = insert[1], insert[2]
                head = heads.get(key) or heads.setdefault(key, _Head.of(tables, *key))
                rows[head.table].append(head.row(insert[3]))
            elif create := _CREATE_TABLE.match(statement.text):
                table = _parse_table(_correct_typo(create[1]), create[2])
                if table.name in tables:
                    raise BadInput(f"table {table.name} is created twice")
                tables[table.name], rows[table.name] = table, []
            else:
                raise BadInput("this is neither CREATE TABLE nor INSERT")
        except BadInput as error:
            found = " ".join(statement.text.split())[:120]
            raise ScriptError(
                f"{name}, line {statement.line}: {error.problem}: {found!r}.",
                fix="Correct that statement, or get the file again.",
            ) from None
    try:
        return World.filled(tables.values(), rows.values())
    except BadInput as error:
        raise ScriptError(f"{name}: {error.problem}", fix=error.fix) from None


def _split_statements(text: str, name: str) -> Iterator[_Statement]:
    """Split at semicolons outside strings; comments and blank lines are skipped."""
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


def _correct_typo(identifier: str) -> str:
    return TYPOS.get(identifier, identifier)


def _parse_table(name: str, body: str) -> DataTable:
    """Parse the text between the brackets of CREATE TABLE."""
    columns: list[Column] = []
    key: tuple[str, ...] = ()
    references: dict[str, str] = {}
    for part in re.split(r",(?![^()]*\))", body):
        if primary := _PRIMARY.match(part):
            key = tuple(_correct_typo(column.strip()) for column in primary[1].split(","))
        elif foreign := _FOREIGN.match(part):
            references[_correct_typo(foreign[1])] = foreign[2]
        elif (column := _COLUMN.match(part)) and column[2].upper() in _TYPES:
            columns.append(Column(_correct_typo(column[1]), _TYPES[column[2].upper()]))
        else:
            raise BadInput(f"{part.strip()!r} is not a column definition")
    linked = (Column(c.name, c.type, references.get(c.name, "")) for c in columns)
    return DataTable(name, tuple(linked), key)


def _parse_literal(token: str) -> Value:
    if token[0] in "'\"":
        return token[1:-1].replace(token[0] * 2, token[0])
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


def _convert(value: Value, kind: ColumnType) -> Value:
    """Convert a literal to a value of this column type."""
    if isinstance(value, str | bool):
        if kind == ("text" if isinstance(value, str) else "boolean"):
            return value
    elif abs(value) <= sys.float_info.max:  # neither infinite nor NaN
        if kind == "real":
            return float(value)
        if kind == "integer" and value == int(value):
            return int(value)
    raise BadInput(f"{value!r} is {_NOT[kind]}")


_NOT: Mapping[ColumnType, str] = {
    "text": "not text",
    "integer": "not a whole number",
    "real": "not a number",
    "boolean": "neither true nor false",
}


@dataclass(frozen=True)
class _Head:
    """The head of an INSERT: its table, and the position and type of each column."""

    table: str
    order: tuple[tuple[int, ColumnType], ...]

    @classmethod
    def of(cls, tables: Mapping[str, DataTable], name: str, columns: str) -> "_Head":
        if name not in tables:
            raise BadInput(f"table {name} is not created before")
        given = [_correct_typo(column.strip()) for column in columns.split(",")]
        table = tables[name]
        if sorted(given) != sorted(table.names):
            raise BadInput(f"the columns of {name} are {', '.join(table.names)}")
        order = ((given.index(column.name), column.type) for column in table.columns)
        return cls(name, tuple(order))

    def row(self, values: str) -> Row:
        tokens = _split_values(values)
        if len(tokens) != len(self.order):
            raise BadInput(f"{len(tokens)} values for {len(self.order)} columns")
        return tuple(_convert(_parse_literal(tokens[place]), kind) for place, kind in self.order)


def _split_values(text: str) -> list[str]:
    tokens: list[str] = []
    end = 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        if not match:
            raise BadInput("the list of values is not understood")
        tokens.append(match[1])
        end = match.end()
    return tokens
