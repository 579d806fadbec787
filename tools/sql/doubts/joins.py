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
    catalogue = Catalogue(schema)
    queries = [one for one in tree.find_all(exp.Select) if not one.find_ancestor(exp.Exists)]
    defined = {one.alias for one in tree.find_all(exp.CTE)}
    return tuple(
        text for select in queries for text in _find_odd(select, question, catalogue, defined)
    )


def _find_odd(
    select: exp.Select, question: str, catalogue: Catalogue, defined: set[str]
) -> Iterator[str]:
    sources = [one for one in get_sources(select) if isinstance(one, exp.Table) and one.name]
    names = {one.alias_or_name: one.name.lower() for one in sources if one.name not in defined}
    for join in select.args.get("joins") or ():
        alias, pairs = join.alias_or_name, find_column_pairs(join)
        if alias not in names:
            continue
        own = {one.name.lower() for pair in pairs for one in pair if one.table == alias}
        is_asked = roots(join.this.name) & roots(question) or select.find(exp.Star)
        if not is_asked and own != catalogue.keys.get(names[alias]) and not _is_used(join, select):
            yield f"The query joins {join.this.name}, of which the question says nothing."
        for left, right in pairs:
            tables = {left.table, right.table}
            is_same = len(tables) == 2 and len({names.get(table, table) for table in tables}) == 1
            compares = select.find(exp.LT, exp.GT, exp.LTE, exp.GTE, exp.NEQ)
            if is_same and not compares and left.name.lower() == right.name.lower():
                yield f"The query joins the rows of {join.this.name} with one another."


def _is_used(join: exp.Join, select: exp.Select) -> bool:
    """Whether anything but the pairs of columns that the join equates may use its table."""
    equated = {id(column) for pair in find_column_pairs(join) for column in pair}
    return any(
        column.table in ("", join.alias_or_name) and id(column) not in equated
        for column in get_own_columns(select)
    )
