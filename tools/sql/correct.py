"""Corrects a query that a model wrote, as far as the schema, the data and the question allow.

Each correction changes a parsed query in place and returns what it changed, in words.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from sqlglot import exp

from planweave.tools.database import Corrected, Schema
from planweave.tools.linking import Values
from planweave.tools.sql import aggregates, columns, grouping, slips
from planweave.tools.sql import dialect as dialects
from planweave.tools.sql.catalogue import Catalogue, ColumnResolver
from planweave.tools.sql.joins import correct_joins
from planweave.tools.sql.names import write_stored_names
from planweave.tools.sql.negation import exclude_things
from planweave.tools.sql.tree import get_compared_values, parse_query
from planweave.tools.sql.two_groups import compare_two_groups


class Lookup(NamedTuple):
    """Questions to the data.

    Attributes:
        values: Returns the stored texts of a column, by table and column.
        has_nulls: Whether rows have no value in a column, by table and column.
        counts_differ: Whether a query for two numbers returns two different ones.
    """

    values: Values
    has_nulls: Callable[[str, str], bool]
    counts_differ: Callable[[exp.Select], bool]


def correct_query(
    query: str,
    schema: Schema,
    dialect: str,
    lookup: Lookup,
    *,
    question: str = "",
    instructions: str = "",
    now: str = "",
    ranks: bool = False,
) -> Corrected:
    """Correct a query; see :class:`planweave.tools.database.Asked` for the last arguments."""
    query, changes = write_stored_names(query, schema, dialect)
    tree = parse_query(query, dialect)
    if not isinstance(tree, exp.Query):
        return Corrected(query)
    catalogue = Catalogue(schema)
    tree, placed = _correct_names(tree, catalogue, dialect, question)
    changes += placed
    resolver, stored = ColumnResolver(tree, catalogue), cache(lookup.values)

    if isinstance(tree, exp.Select) and not ranks:
        changes += compare_two_groups(tree, question)
    changes += slips.remove_placeholders(tree)
    for select in tree.find_all(exp.Select):
        changes += aggregates.sum_counts(select, catalogue, question)
        if not ranks:
            changes += aggregates.compare_averages(select, f"{question} {instructions}")
    tree, shown = _correct_output(tree, resolver, lookup, question, ranks=ranks)
    changes += shown
    if dialect != "mysql":
        changes += slips.divide_as_real_numbers(tree)
    if dialect == "sqlite":
        changes += dialects.subtract_days(tree, catalogue.is_date)
        changes += dialects.include_last_day(tree, catalogue.is_moment)
    changes += slips.group_alternatives(tree)
    changes += slips.write_stored_values(_find_compared_texts(tree, resolver), stored)
    compared = [one for one in _find_compared_texts(tree, resolver) if not _is_denied(one.text)]
    doubts = tuple(slips.find_absent_values(compared, stored))
    changes += dialects.set_present(tree, now) if now else []
    if isinstance(tree, exp.Select) and not ranks:
        changes += aggregates.sum_rows(tree, question, lookup.counts_differ)
        names = (field.name for entity in schema.entities for field in entity.fields)
        tree, averaged = aggregates.average_groups(tree, question, names)
        changes += averaged
        changes += slips.round_as_asked(tree, f"{question} {instructions}", dialect)
    if not changes:
        return Corrected(query, doubts=doubts)
    return Corrected(tree.sql(dialect=dialect), tuple(dict.fromkeys(changes)), doubts)


def find_used_columns(query: str, dialect: str) -> tuple[str, ...]:
    """Find the columns that a query reads, without the names that it defines by AS."""
    tree = parse_query(query, dialect)
    if tree is None:
        return ()
    defined = {alias.alias.lower() for alias in tree.find_all(exp.Alias)}
    names = dict.fromkeys(column.name for column in tree.find_all(exp.Column))
    return tuple(name for name in names if name.lower() not in defined)


def _correct_names(
    tree: exp.Query, catalogue: Catalogue, dialect: str, question: str
) -> tuple[exp.Query, list[str]]:
    """Correct functions, columns and joins; only functions if a column has no correction."""
    changes = dialects.translate_functions(tree) if dialect == "sqlite" else []
    original = tree.copy()
    joined = correct_joins(tree, catalogue, question)
    return (original, changes) if joined is None else (tree, changes + joined)


def _correct_output(
    tree: exp.Query, resolver: ColumnResolver, lookup: Lookup, question: str, *, ranks: bool
) -> tuple[exp.Query, list[str]]:
    """Correct what the query shows and groups by; a ranking keeps its columns and rows."""
    catalogue, has_nulls = resolver.catalogue, resolver.make_test(lookup.has_nulls)
    if isinstance(tree, exp.SetOperation) and not ranks:
        return columns.show_names_of_keys(tree, catalogue, question)
    if not isinstance(tree, exp.Select):
        return tree, []
    if ranks:
        return tree, grouping.show_keys(tree) + grouping.group_shown_columns(tree)
    return tree, [
        *exclude_things(tree, question, lookup.counts_differ, has_nulls, catalogue.is_date),
        *grouping.show_keys(tree),
        *grouping.group_shown_columns(tree, question),
        *columns.show_asked_columns(tree, catalogue, question),
        *columns.show_names(tree, catalogue, question),
        *grouping.count_distinct_values(tree, question),
        *slips.remove_limit(tree, question),
        *grouping.remove_null_groups(tree, question, has_nulls),
    ]


def _find_compared_texts(tree: exp.Expr, resolver: ColumnResolver) -> Iterator[slips.ComparedText]:
    """Find texts without ``%`` that columns are compared with by ``=``, ``IN`` or ``LIKE``."""
    for test in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like):
        found = resolver.find_table(test.this) if isinstance(test.this, exp.Column) else None
        if found is None:
            continue
        for text in get_compared_values(test):
            if isinstance(text, exp.Literal) and text.is_string and "%" not in text.name:
                yield slips.ComparedText(*found, text)


def _is_denied(text: exp.Literal) -> bool:
    """Whether a column must differ from a text (``<>``, ``NOT IN``), which it need not hold."""
    test = text.parent
    return isinstance(test, exp.NEQ) or (test is not None and isinstance(test.parent, exp.Not))
