"""What a model can act on: fixes for engine errors, and reasons for an empty result."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from sqlglot import exp, select

from planweave.texts import listed, shorten
from planweave.tools.database import QueryResult, Schema
from planweave.tools.result_text import cell_text
from planweave.tools.sql.catalogue import Catalogue, Homes
from planweave.tools.sql.describe import Read
from planweave.tools.sql.functions import INSTEAD
from planweave.tools.sql.guard import Statement
from planweave.tools.suggest import nearest, values_near

_SECONDS = 0.5  # for each look-up of a hint
_LITERALS = 4
_VALUES = 1_000
_LONGEST_VALUE = 40
_COLUMNS, _PLACES = 30, 6  # that are named in one hint

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


def fix(message: str, statement: Statement, schema: Schema, dialect: str) -> str:
    """What the query could have meant, from the engine's message and the schema."""
    both = f"{message}\n{statement.text}"
    parts = [tip for pattern, tip in _TIPS[dialect] if re.search(pattern, both, re.IGNORECASE)]
    if found := _COLUMN.search(message):
        parts.append(_about_column(found["name"], statement.tree, schema, dialect))
    elif (found := _FUNCTION.search(message)) and not parts:
        parts.append(INSTEAD[dialect].get(found["name"].lower(), "Write it without the function."))
    return " ".join(parts) or f"Correct it; the dialect is {schema.language}."


def _about_column(name: str, tree: exp.Query, schema: Schema, dialect: str) -> str:
    """Where the column is, or which columns have a similar name."""
    column = name.rpartition(".")[2]
    homes = [
        entity.name
        for entity in schema.entities
        if column.lower() in {field.name.lower() for field in entity.fields}
    ]
    if homes:
        return f"The column {column} is in {', '.join(homes)}: join that, or fix the alias."
    used = {table.name.lower() for table in tree.find_all(exp.Table)}
    columns = {
        f"{entity.name}.{field.name}": field.name
        for entity in sorted(schema.entities, key=lambda entity: entity.name.lower() not in used)
        for field in entity.fields
    }
    close = nearest(column, columns.values())
    if close:
        places = [place for place, field in columns.items() if field in close]
        return f"Did you mean {listed(places, _PLACES)}?"
    quoting = "Text stands between single quotes. " if dialect == "postgres" else ""
    own = [place for place in columns if place.partition(".")[0].lower() in used]
    named = f"The columns are: {listed(own, _COLUMNS)}." if own else "Name its table in FROM."
    return quoting + named


def with_hint(
    result: QueryResult, tree: exp.Query, schema: Schema, dialect: str, read: Read
) -> QueryResult:
    """Add, to an empty result, which compared values do not occur and the nearest that do."""
    if not _is_empty(result):
        return result
    wrong = [hint for test in _tests(tree, schema) if (hint := _absent(test, dialect, read))]
    if wrong:
        return replace(result, hint=" ".join(wrong))
    if not result.rows:
        return replace(result, hint="No row meets all conditions; drop or widen one.")
    return result


def _is_empty(result: QueryResult) -> bool:
    """No row, or the single row that aggregates give for no rows: only NULL and 0."""
    return not result.rows or (
        len(result.rows) == 1 and all(cell is None or cell == 0 for cell in result.rows[0])
    )


class _Test(NamedTuple):
    """``column = literal`` with the table that the column is of."""

    table: str
    column: str
    literal: str


def _tests(tree: exp.Query, schema: Schema) -> Iterator[_Test]:
    """The first few comparisons of a text column with a literal, ``=`` and ``IN`` alike."""
    homes, found = Homes(tree, Catalogue(schema)), 0
    for node in tree.find_all(exp.EQ, exp.In):
        right = node.expressions if isinstance(node, exp.In) else [node.expression]
        for left, literal in [(node.this, item) for item in right] + [
            (item, node.this) for item in right
        ]:
            text = _literal(literal, schema)
            if text is None or not isinstance(left, exp.Column) or found == _LITERALS:
                continue
            if home := homes.of(left):
                found += 1
                yield _Test(*home, text)


def _literal(node: exp.Expr, schema: Schema) -> str | None:
    """A text literal; also ``"x"`` where no column has that name, which SQLite takes for one."""
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else None
    if isinstance(node, exp.Column) and not node.table and node.this.args.get("quoted"):
        names = {field.name for entity in schema.entities for field in entity.fields}
        return None if node.name in names else node.name
    return None


def _absent(test: _Test, dialect: str, read: Read) -> str:
    """Say that the literal does not occur in the column, with the nearest values; else nothing."""
    column = exp.column(test.column, quoted=True)
    table = exp.to_identifier(test.table, quoted=True)
    is_equal = column.eq(exp.Literal.string(test.literal))
    once = read(
        select("1").from_(exp.Table(this=table)).where(is_equal).limit(1).sql(dialect), _SECONDS
    )
    if once is None or once.rows:
        return ""
    some = select(column).distinct().from_(exp.Table(this=table)).limit(_VALUES).sql(dialect)
    found = read(some, _SECONDS)
    problem = f"No {test.table}.{test.column} equals {shorten(test.literal, _LONGEST_VALUE)!r}"
    if found is None:
        return f"{problem}."
    known = [cell_text(row[0]) for row in found.rows if row[0] is not None]
    there = values_near(
        test.literal,
        known,
        every=len(found.rows) < _VALUES,
        shown=lambda value: repr(shorten(value, _LONGEST_VALUE)),
    )
    return f"{problem}; {there}."
