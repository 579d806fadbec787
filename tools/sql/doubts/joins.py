"""Joins that bring other rows than asked for: of tables that nothing uses, or with themselves."""

from collections.abc import Iterator

from sqlglot import exp

from planweave.tools.checking.words import roots
from planweave.tools.database import Schema
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.tree import find_column_pairs, get_own_columns, get_sources, parse_query


def find_odd_joins(query: str, question: str, schema: Schema, dialect: str) -> tuple[str, ...]:
    """Return what is odd about the joins of a query, in sentences.

    A join by the key of its table changes little, and a query that counts rows, or names columns
    without their tables, uses all its tables.
    """
    if (tree := parse_query(query, dialect)) is None:
        return ()
    selects, catalogue = tree.find_all(exp.Select), Catalogue(schema)
    return tuple(text for select in selects for text in _find_odd(select, question, catalogue))


def _find_odd(select: exp.Select, question: str, catalogue: Catalogue) -> Iterator[str]:
    names = {source.alias_or_name: source.name.lower() for source in get_sources(select)}
    for join in select.args.get("joins") or ():
        name, pairs = join.this.name, find_column_pairs(join)
        own = {one.name.lower() for p in pairs for one in p if one.table == join.alias_or_name}
        is_unknown = isinstance(join.this, exp.Table) and not roots(name) & roots(question)
        is_unused = not select.find(exp.Star) and not _is_used(join, select)
        if is_unknown and is_unused and own != catalogue.keys.get(name.lower()):
            yield f"The query joins {name}, of which the question says nothing."
        for left, right in pairs:
            tables = {left.table, right.table}
            is_same = len(tables) == 2 and len({names.get(table, table) for table in tables}) == 1
            if is_same and left.name.lower() == right.name.lower():
                yield f"The query joins the rows of {name} with one another by {left.name}."


def _is_used(join: exp.Join, select: exp.Select) -> bool:
    """Whether anything outside the join's own condition may use its table."""
    return any(
        column.table in ("", join.alias_or_name) and column.find_ancestor(exp.Join) is not join
        for column in get_own_columns(select)
    )
