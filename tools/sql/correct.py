"""Everything that the schema and the data alone can correct in a query that a model wrote."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from planweave.tools.database import Corrected, Schema
from planweave.tools.sql import slips
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.foreign import as_sqlite_has_them
from planweave.tools.sql.joins import correct_joins

if TYPE_CHECKING:
    from sqlglot import exp


def corrected(
    query: str,
    schema: Schema,
    dialect: str,
    values: Callable[[str, str], Sequence[str]],
    *,
    question: str = "",
    now: str = "",
) -> Corrected:
    """Correct a query as far as schema and data leave one reading.

    Args:
        query: One SELECT as a model wrote it; whatever cannot be read is left as it is.
        schema: The tables that it may read.
        dialect: sqlglot's name of the dialect.
        values: Stored texts of a column, by table and column.
        question: What is asked.
        now: The moment of the question; the database's own clock if empty.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(query, read=dialect)
        original = tree.copy()
    except (SqlglotError, RecursionError):
        return Corrected(query)
    if not isinstance(tree, exp.Query):
        return Corrected(query)
    catalogue = Catalogue(schema)
    before = as_sqlite_has_them(tree) if dialect == "sqlite" else []
    changes = correct_joins(tree, catalogue, question)
    if changes is None:  # half of a correction is worth nothing
        tree, changes = original, []
        before = as_sqlite_has_them(tree) if dialect == "sqlite" else []
    changes = before + changes
    if isinstance(tree, exp.Select):
        changes += slips.group_by_what_is_shown(tree)
        changes += slips.show_keys(tree)
    changes += slips.divide_as_real_numbers(tree) if dialect != "mysql" else []
    if dialect == "sqlite":
        changes += slips.subtract_days(tree, catalogue.is_date)
    changes += slips.join_alternatives(tree)
    changes += slips.compare_as_said(tree, question)
    stored = cache(values)
    changes += slips.write_stored_values(_compared(tree, catalogue), stored)
    doubts = tuple(slips.values_not_stored(_compared(tree, catalogue), stored))
    changes += slips.set_the_present(tree, now) if now else []
    if not changes:
        return Corrected(query, doubts=doubts)
    return Corrected(tree.sql(dialect=dialect), tuple(dict.fromkeys(changes)), doubts)


def _compared(tree: "exp.Expr", catalogue: Catalogue) -> Iterator[slips.Compared]:
    """Columns that are compared with a whole text, by ``=``, ``IN``, or ``LIKE`` without a mark."""
    from sqlglot import exp

    tables = {table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)}
    for test in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like):
        column = test.this
        if not isinstance(column, exp.Column):
            continue
        name = column.name.lower()
        sources = [tables.get(column.table.lower(), "")] if column.table else [*tables.values()]
        homes = {table for table in sources if name in catalogue.columns.get(table, {})}
        if len(homes) != 1:
            continue
        home = homes.pop()
        for text in test.expressions if isinstance(test, exp.In) else [test.expression]:
            if isinstance(text, exp.Literal) and text.is_string and "%" not in text.name:
                yield slips.Compared(catalogue.name(home), catalogue.columns[home][name], text)
