"""Hints for a model: fixes for errors of the engine, and reasons for an empty result."""

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp, select

from planweave.texts import listed, shorten
from planweave.tools.database import QueryResult, Schema
from planweave.tools.result_text import cell_text
from planweave.tools.sql.catalogue import Catalogue, ColumnResolver
from planweave.tools.sql.describe import Read
from planweave.tools.sql.functions import INSTEAD
from planweave.tools.sql.guard import Statement
from planweave.tools.sql.tree import get_compared_values
from planweave.tools.suggest import nearest, values_near

_SECONDS = 0.5  # for each query of a hint
_MOST_LITERALS = 4
_MOST_VALUES = 1_000
_LONGEST_VALUE = 40
_MOST_COLUMNS, _MOST_SIMILAR = 30, 6  # named in one hint

_COLUMN = re.compile(
    r"""(?:no\ such\ column:\ |Unknown\ column\ '|column\ "?)(?P<name>[\w.]+)"?(?:'|\ does|$)""",
    re.VERBOSE,
)
_FUNCTION = re.compile(r"(?:no such function: |function |FUNCTION (?:\w+\.)?)(?P<name>\w+)")
_TIPS: dict[str, tuple[tuple[str, str], ...]] = {
    "sqlite": (
        (r"(?s)syntax error.*\bEXTRACT\s*\(", INSTEAD["sqlite"]["extract"]),
        (r"misuse of aggregate", "Filter aggregates with HAVING, or in an outer query."),
        (r"ambiguous column name", "Write the table before the column: table.column."),
        (r"string or blob too big", "Leave out very long columns; build shorter texts."),
        (r"near \"TOP\"", "Write LIMIT n at the end."),
        (r"(?s)syntax error.*\b(LEFT|RIGHT)\s*\(", "Write substr(column, start, length)."),
        (r"unrecognized token: \":\"", "Write CAST(column AS type), not column::type."),
        (r"RIGHT and FULL", "Swap the tables and use LEFT JOIN."),
    ),
    "postgres": (
        (r"function round\(double", INSTEAD["postgres"]["round"]),
        (r"must appear in the GROUP BY", "Add the column to GROUP BY, or aggregate it."),
        (r"is ambiguous", "Write the table before the column: table.column."),
        (r"operator does not exist", "Cast one side, for example column::text = '1'."),
        (r"invalid input syntax", "Compare with a value of the column's type."),
        (r"aggregate functions are not allowed in WHERE", "Filter aggregates with HAVING."),
    ),
    "mysql": (
        (r"is ambiguous", "Write the table before the column: table.column."),
        (r"Invalid use of group function", "Filter aggregates with HAVING."),
        (
            r"(?s)syntax.*\bFULL\b",
            "MariaDB and MySQL have no FULL JOIN: UNION a LEFT JOIN and a RIGHT JOIN.",
        ),
        (r"LIMIT & IN", "Put the subquery with LIMIT into FROM and join it."),
        (r"(?s)syntax.*::", "Write CAST(column AS type), not column::type."),
        (r"syntax.* near '>", "Write JSON_VALUE(column, '$.key'), not column->>'$.key'."),
    ),
}


def suggest_fix(message: str, statement: Statement, schema: Schema, dialect: str) -> str:
    """Suggest a fix for an error of the engine, from its message and the schema."""
    both = f"{message}\n{statement.text}"
    parts = [tip for pattern, tip in _TIPS[dialect] if re.search(pattern, both, re.IGNORECASE)]
    if found := _COLUMN.search(message):
        parts.append(_suggest_column(found["name"], statement.tree, schema, dialect))
    elif (found := _FUNCTION.search(message)) and not parts:
        parts.append(INSTEAD[dialect].get(found["name"].lower(), "Write it without the function."))
    return " ".join(parts) or f"Correct it; the dialect is {schema.language}."


def _suggest_column(name: str, tree: exp.Query, schema: Schema, dialect: str) -> str:
    """Name the tables that have a column, or columns with a similar name."""
    column = name.rpartition(".")[2]
    tables = [
        entity.name
        for entity in schema.entities
        if column.lower() in {field.name.lower() for field in entity.fields}
    ]
    if tables:
        return f"The column {column} is in {', '.join(tables)}: join that, or fix the alias."
    used = {table.name.lower() for table in tree.find_all(exp.Table)}
    columns = {
        f"{entity.name}.{field.name}": field.name
        for entity in sorted(schema.entities, key=lambda entity: entity.name.lower() not in used)
        for field in entity.fields
    }
    if similar := nearest(column, columns.values()):
        places = [place for place, field in columns.items() if field in similar]
        return f"Did you mean {listed(places, _MOST_SIMILAR)}?"
    quoting = "Text stands between single quotes. " if dialect == "postgres" else ""
    own = [place for place in columns if place.partition(".")[0].lower() in used]
    named = f"The columns are: {listed(own, _MOST_COLUMNS)}." if own else "Name its table in FROM."
    return quoting + named


def add_hint(
    result: QueryResult, tree: exp.Query, schema: Schema, dialect: str, read: Read
) -> QueryResult:
    """Add to an empty result the compared values that do not occur, with the nearest that do.

    A single row of NULL and 0 is empty, too: aggregates return it for no rows.
    """
    cells = result.rows[0] if len(result.rows) == 1 else ()
    if result.rows and not (cells and all(cell is None or cell == 0 for cell in cells)):
        return result
    compared = _find_compared_texts(tree, schema)
    hint = " ".join(filter(None, (_explain_absence(*one, dialect, read) for one in compared)))
    if not hint and not result.rows:
        hint = "No row meets all conditions; drop or widen one."
    return replace(result, hint=hint) if hint else result


def _find_compared_texts(tree: exp.Query, schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Find the first comparisons of a column with a text by ``=`` and ``IN``.

    Yields:
        The table, the column and the text.
    """
    resolver, count = ColumnResolver(tree, Catalogue(schema)), 0
    for test in tree.find_all(exp.EQ, exp.In):
        values = get_compared_values(test)
        ends = [(test.this, one) for one in values] + [(one, test.this) for one in values]
        for column, other in ends:
            text = _get_text(other, schema)
            if text is None or not isinstance(column, exp.Column) or count == _MOST_LITERALS:
                continue
            if found := resolver.find_table(column):
                count += 1
                yield (*found, text)


def _get_text(node: exp.Expr, schema: Schema) -> str | None:
    """Return a text literal; also ``"x"`` if no column has that name, which SQLite reads as one."""
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else None
    if isinstance(node, exp.Column) and not node.table and node.this.args.get("quoted"):
        names = {field.name for entity in schema.entities for field in entity.fields}
        return None if node.name in names else node.name
    return None


def _explain_absence(table: str, column: str, text: str, dialect: str, read: Read) -> str:
    """Report that no row of a column has a text, with the nearest values; empty if one has it."""
    cell, source = exp.column(column, quoted=True), exp.to_identifier(table, quoted=True)
    rows = select("1").from_(exp.Table(this=source)).where(cell.eq(exp.Literal.string(text)))
    found = read(rows.limit(1).sql(dialect), _SECONDS)
    if found is None or found.rows:
        return ""
    values = select(cell).distinct().from_(exp.Table(this=source)).limit(_MOST_VALUES)
    found = read(values.sql(dialect), _SECONDS)
    problem = f"No {table}.{column} equals {shorten(text, _LONGEST_VALUE)!r}"
    if found is None:
        return f"{problem}."
    near = values_near(
        text,
        [cell_text(row[0]) for row in found.rows if row[0] is not None],
        every=len(found.rows) < _MOST_VALUES,
        shown=lambda value: repr(shorten(value, _LONGEST_VALUE)),
    )
    return f"{problem}; {near}."
