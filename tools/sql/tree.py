"""Helpers that read and change parsed SQL queries."""

from collections.abc import Iterable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError


def parse_query(query: str, dialect: str) -> exp.Expr | None:
    """Parse a query; None if it cannot be parsed."""
    try:
        return sqlglot.parse_one(query, read=dialect)
    except (SqlglotError, RecursionError):
        return None


def get_sources(select: exp.Select) -> list[exp.Expr]:
    """Return what a query reads from: its FROM clause and its joins."""
    first = select.args.get("from_")
    return [one.this for one in (first, *(select.args.get("joins") or ())) if one]


def get_outputs(select: exp.Select) -> list[exp.Expr]:
    """Return the expressions that a query shows, without their aliases."""
    return [one.unalias() for one in select.expressions]


def get_own_columns(select: exp.Select) -> list[exp.Column]:
    """Return the columns of a SELECT, without those of its subqueries."""
    found = select.find_all(exp.Column)
    return [column for column in found if column.find_ancestor(exp.Select) is select]


def find_column_pairs(join: exp.Join) -> list[tuple[exp.Column, exp.Column]]:
    """Find the pairs of columns that a join equates."""
    return [
        (pair.this, pair.expression)
        for pair in join.find_all(exp.EQ)
        if isinstance(pair.this, exp.Column) and isinstance(pair.expression, exp.Column)
    ]


def get_compared_values(test: exp.Expr) -> list[exp.Expr]:
    """Return the right sides of a comparison (``=``, ``IN`` and the like)."""
    return test.expressions if isinstance(test, exp.In) else [test.expression]


def has_column_and_literal(test: exp.Expr) -> bool:
    """Whether a comparison has a column on its left side and a literal on its right side."""
    return isinstance(test.this, exp.Column) and isinstance(test.expression, exp.Literal)


def get_conditions(select: exp.Select) -> list[exp.Expr]:
    """Return the conditions that WHERE joins by AND."""
    where = select.args.get("where")
    return split_conditions(where) if where else []


def split_conditions(where: exp.Where) -> list[exp.Expr]:
    """Split a WHERE clause at its outer ANDs."""
    return [*where.this.flatten()] if isinstance(where.this, exp.And) else [where.this]


def set_conditions(select: exp.Select, conditions: Iterable[exp.Expr]) -> None:
    """Replace WHERE with these conditions, joined by AND."""
    kept = [*conditions]
    select.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)


def remove_conditions(select: exp.Select, removed: Iterable[exp.Expr]) -> None:
    """Remove some of the conditions that WHERE joins by AND."""
    removed = [*removed]
    set_conditions(select, [one for one in get_conditions(select) if one not in removed])


def find_number_bounds(select: exp.Select) -> list[exp.Expr]:
    """Find the conditions that compare a column with a number by ``<``, ``<=``, ``>`` or ``>=``."""
    return [
        one
        for one in get_conditions(select)
        if isinstance(one, exp.GT | exp.GTE | exp.LT | exp.LTE)
        and isinstance(one.this, exp.Column)
        and one.expression.is_number
    ]


def build_not_null(column: exp.Expr) -> exp.Expr:
    """Build the condition ``column IS NOT NULL``."""
    return exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))


def clear_clauses(select: exp.Select, *clauses: str) -> None:
    """Remove clauses, such as ``order`` and ``limit``, from a SELECT."""
    for clause in clauses:
        select.set(clause, None)


def group_by(select: exp.Select, keys: Iterable[exp.Expr]) -> None:
    """Replace GROUP BY with copies of these keys."""
    select.set("group", exp.Group(expressions=[key.copy() for key in keys]))
