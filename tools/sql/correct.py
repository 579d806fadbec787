"""Everything that the schema and the data alone can correct in a query that a model wrote.

Each correction changes a parsed query in place and returns what it changed, for the reader.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from sqlglot import exp

from planweave.tools.database import Corrected, Schema
from planweave.tools.linking import Values
from planweave.tools.sql import dates, grouping, slips
from planweave.tools.sql.added_up import add_up
from planweave.tools.sql.asked_columns import show_asked_columns
from planweave.tools.sql.averages import average_each
from planweave.tools.sql.catalogue import Catalogue, Homes
from planweave.tools.sql.denied import look_at_all_rows
from planweave.tools.sql.foreign import as_sqlite_has_them
from planweave.tools.sql.joins import correct_joins
from planweave.tools.sql.spaces import with_stored_names
from planweave.tools.sql.two_groups import compare_two_groups


class Data(NamedTuple):
    """What can be asked of the data.

    Attributes:
        values: Stored texts of a column, by table and column.
        lacking: Whether rows have no value in a column, by table and column.
        several: Whether a query for two numbers gives two that differ.
    """

    values: Values
    lacking: Callable[[str, str], bool]
    several: Callable[[exp.Select], bool]


def corrected(
    query: str,
    schema: Schema,
    dialect: str,
    data: Data,
    *,
    question: str = "",
    instructions: str = "",
    now: str = "",
    ranks: bool = False,
) -> Corrected:
    """Correct a query as far as schema and data leave one reading."""
    query, named = with_stored_names(query, schema, dialect)
    tree = slips.parsed(query, dialect)
    if not isinstance(tree, exp.Query):
        return Corrected(query)
    catalogue = Catalogue(schema)
    tree, changes = _placed(tree, catalogue, dialect, question)
    homes, stored = Homes(tree, catalogue), cache(data.values)

    if isinstance(tree, exp.Select) and not ranks:
        changes += compare_two_groups(tree, question)
    changes = [*named, *changes, *slips.drop_placeholders(tree)]
    for select in tree.find_all(exp.Select):
        changes += grouping.add_up_counts(select, catalogue, question)
        changes += [] if ranks else grouping.compare_averages(select, f"{question} {instructions}")
    if isinstance(tree, exp.Select):
        changes += _as_asked(tree, homes, data, question, ranks=ranks)
    changes += slips.divide_as_real_numbers(tree) if dialect != "mysql" else []
    changes += _as_sqlite_compares(tree, catalogue) if dialect == "sqlite" else []
    changes += slips.join_alternatives(tree)
    changes += slips.write_stored_values(_compared(tree, homes), stored)
    doubts = tuple(slips.values_not_stored(_compared(tree, homes), stored))
    changes += dates.set_the_present(tree, now) if now else []
    if isinstance(tree, exp.Select) and not ranks:
        changes += add_up(tree, question, data.several)
        names = (field.name for entity in schema.entities for field in entity.fields)
        tree, averaged = average_each(tree, question, names)
        changes += averaged
    if not changes:
        return Corrected(query, doubts=doubts)
    return Corrected(tree.sql(dialect=dialect), tuple(dict.fromkeys(changes)), doubts)


def _as_asked(
    select: exp.Select, homes: Homes, data: Data, question: str, *, ranks: bool
) -> list[str]:
    """What is denied, groups and columns, as the question says; a ranking shows all."""
    catalogue, lacking = homes.catalogue, homes.lacking(data.lacking)
    if ranks:
        return grouping.show_keys(select) + grouping.group_by_what_is_shown(select)
    changes = look_at_all_rows(select, question, data.several, lacking, catalogue.is_date)
    changes += grouping.show_keys(select)
    changes += grouping.group_by_what_is_shown(select, question)
    changes += _shown(select, catalogue, question)
    return changes + grouping.leave_out_the_nameless(select, question, lacking)


def columns_read(query: str, dialect: str) -> tuple[str, ...]:
    """The columns that a query reads, as it writes them, without the names that it gives itself."""
    tree = slips.parsed(query, dialect)
    if tree is None:
        return ()
    given = {named.alias.lower() for named in tree.find_all(exp.Alias)}
    names = dict.fromkeys(column.name for column in tree.find_all(exp.Column))
    return tuple(name for name in names if name.lower() not in given)


def _placed(
    tree: exp.Query, catalogue: Catalogue, dialect: str, question: str
) -> tuple[exp.Query, list[str]]:
    """Functions as the database has them, columns where the schema has them, joins by keys."""
    original = tree.copy()
    changes = as_sqlite_has_them(tree) if dialect == "sqlite" else []
    joined = correct_joins(tree, catalogue, question)
    if joined is not None:
        return tree, changes + joined
    # Half of a correction is worth nothing.
    return original, as_sqlite_has_them(original) if dialect == "sqlite" else []


def _as_sqlite_compares(tree: exp.Query, catalogue: Catalogue) -> list[str]:
    """Dates and moments, which SQLite takes for texts."""
    return [
        *dates.subtract_days(tree, catalogue.is_date),
        *dates.take_whole_days(tree, catalogue.is_moment),
    ]


def _shown(select: exp.Select, catalogue: Catalogue, question: str) -> list[str]:
    """Show what the question names, what rows are called, and all rows of a sorted list."""
    changes = show_asked_columns(select, catalogue, question)
    changes += slips.show_names(select, catalogue.naming)
    changes += grouping.count_different(select, question)
    return changes + slips.keep_all(select, question)


def _compared(tree: exp.Expr, homes: Homes) -> Iterator[slips.Compared]:
    """Columns that are compared with a whole text, by ``=``, ``IN``, or ``LIKE`` without a mark."""
    for test in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like):
        home = homes.of(test.this) if isinstance(test.this, exp.Column) else None
        if home is None:
            continue
        for text in test.expressions if isinstance(test, exp.In) else [test.expression]:
            if isinstance(text, exp.Literal) and text.is_string and "%" not in text.name:
                yield slips.Compared(*home, text)
