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
from planweave.tools.sql.joins import correct_joins, look_in_the_same_key
from planweave.tools.sql.measures import show_in_the_unit_asked
from planweave.tools.sql.named_keys import name_keys
from planweave.tools.sql.needless import leave_out_unused
from planweave.tools.sql.spaces import with_stored_names
from planweave.tools.sql.two_groups import (
    compare_two_groups,
    gather,
    tell_apart,
    with_brackets,
)


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
    tree, joined = _read(query, dialect)
    if not isinstance(tree, exp.Query):
        return Corrected(query)
    catalogue = Catalogue(schema)
    tree, changes = _placed(tree, catalogue, dialect, question)
    homes, stored = Homes(tree, catalogue), cache(data.values)

    if not ranks:
        if isinstance(tree, exp.Select):
            changes += compare_two_groups(tree, question)
        tree, gathered = gather(tree)
        changes += gathered
    changes = [*named, *joined, *changes, *slips.drop_placeholders(tree)]
    for select in tree.find_all(exp.Select):
        changes += grouping.add_up_counts(select, catalogue, question)
        changes += [] if ranks else grouping.compare_averages(select, f"{question} {instructions}")
    if isinstance(tree, exp.Select):
        changes += [] if ranks else leave_out_unused(tree, homes, question, instructions)
        changes += _as_asked(tree, homes, data, question, dialect, ranks=ranks)
    changes += slips.divide_as_real_numbers(tree) if dialect != "mysql" else []
    changes += _as_sqlite_compares(tree, homes, data, question) if dialect == "sqlite" else []
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
    select: exp.Select, homes: Homes, data: Data, question: str, dialect: str, *, ranks: bool
) -> list[str]:
    """Months, groups, columns and what is denied, as the question says; a ranking shows all."""
    catalogue = homes.catalogue
    changes = dates.take_named_months(select, question, homes.has_year)
    if not ranks:
        lacking = homes.lacking(data.lacking)
        changes += look_at_all_rows(select, question, data.several, lacking, catalogue.is_date)
        if dialect == "sqlite":
            changes += dates.group_by_span(select, question, catalogue.is_date)
        changes += tell_apart(select, catalogue, question)
    changes += grouping.show_keys(select)
    changes += grouping.group_by_what_is_shown(select, "" if ranks else question)
    changes += [] if ranks else _shown(select, catalogue, question)
    if ranks:
        return changes
    return changes + grouping.leave_out_the_nameless(select, question, homes.lacking(data.lacking))


def _read(query: str, dialect: str) -> tuple[exp.Expr | None, list[str]]:
    """A query as a tree, with the brackets without which it is none."""
    if (tree := slips.parsed(query, dialect)) is not None:
        return tree, []
    return slips.parsed(with_brackets(query), dialect), ["puts both queries in brackets"]


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
    changes += look_in_the_same_key(tree, catalogue)
    joined = correct_joins(tree, catalogue, question)
    if joined is not None:
        return tree, changes + joined
    # Half of a correction is worth nothing.
    return original, as_sqlite_has_them(original) if dialect == "sqlite" else []


def _as_sqlite_compares(tree: exp.Query, homes: Homes, data: Data, question: str) -> list[str]:
    """Dates, their parts and missing values, which SQLite takes for texts and numbers."""
    is_lacking = homes.lacking(data.lacking)
    return [
        *dates.read_stored_parts(tree, homes.catalogue.is_number),
        *dates.subtract_days(tree, homes.catalogue.is_date),
        *dates.count_in_the_unit_asked(tree, question),
        *dates.compare_parts_alike(tree),
        *dates.take_whole_days(tree, homes.catalogue.is_moment),
        *slips.rank_values_only(tree, is_lacking),
    ]


def _shown(select: exp.Select, catalogue: Catalogue, question: str) -> list[str]:
    """Show what the question names, what rows are called, and all rows of a sorted list."""
    changes = slips.sort_as_asked(select, question, catalogue.is_date)
    changes += show_asked_columns(select, catalogue, question)
    changes += slips.show_names(select, catalogue.naming)
    changes += show_in_the_unit_asked(select, question)
    changes += name_keys(select, catalogue, question)
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
