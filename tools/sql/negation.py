"""Questions about things that never have something, which concern all rows of a thing."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from sqlglot import exp

from planweave.tools.sql.catalogue import ColumnTest
from planweave.tools.sql.slips import NO, YES
from planweave.tools.sql.tree import (
    build_not_null,
    get_conditions,
    get_outputs,
    has_column_and_literal,
    set_conditions,
)

_NEVER = re.compile(
    r"\b(?:never|not once|ha(?:s|ve|d) no|(?:has|have|had|did|does|do) not\b[^.?]*\bany"
    r"|without (?:any|a single)|with no)\b|n't\b[^.?]*\bany\b",
    re.IGNORECASE,
)


class _Denied(NamedTuple):
    """A condition of a query, and the condition that no row of a thing must meet."""

    written: exp.Expr
    meant: exp.Expr


def exclude_things(
    select: exp.Select,
    question: str,
    counts_differ: Callable[[exp.Select], bool],
    has_nulls: ColumnTest,
    is_date: ColumnTest,
) -> list[str]:
    """Exclude each thing with a row that has a value, if the question asks who never has it.

    "Who never bought coffee?" is about all rows of a customer: ``product <> 'Coffee'`` finds who
    bought something else as well, and ``product = 'Coffee'`` finds the opposite.
    """
    source, conditions = select.args.get("from_"), get_conditions(select)
    shown, never = get_outputs(select), _NEVER.search(question)
    others = ("joins", "group", "having", "limit")
    if not never or not conditions or not source or any(map(select.args.get, others)):
        return []
    if len(shown) != 1 or not isinstance(key := shown[0], exp.Column):
        return []
    plain = [one for one in conditions if not one.find(exp.Select)]
    denied = _find_denied(plain, question[never.start() :])
    if denied is None:
        return []
    written, meant = denied
    nested = [one for one in conditions if one not in plain]
    if not all(_excludes_rows(one, meant, source.this) for one in nested):
        return []
    counts = exp.Count(this=key.copy()), exp.Count(this=exp.Distinct(expressions=[key.copy()]))
    counting = exp.select(*counts).from_(source.this.copy())
    if meant.find(exp.Column) == key or not counts_differ(counting):
        return []
    rest = [one for one in plain if one is not written]
    having = exp.select(key.copy()).from_(source.this.copy())
    having = having.where(meant, *(one.copy() for one in rest))
    if has_nulls(key):
        having = having.where(build_not_null(key))
    kept = [one for one in rest if not any(map(is_date, one.find_all(exp.Column)))]
    excluded = exp.Not(this=exp.In(this=key.copy(), query=exp.Subquery(this=having)))
    set_conditions(select, [*kept, excluded])
    select.set("distinct", exp.Distinct())
    return [f"leaves out each {key.name} that has {meant.sql()}"]


def _excludes_rows(condition: exp.Expr, meant: exp.Expr, table: exp.Expr) -> bool:
    """Whether a condition excludes, by ``NOT IN``, the rows of the same table that meet another."""
    inner = condition.this.unnest() if isinstance(condition, exp.Not) else None
    query = inner.args.get("query") if isinstance(inner, exp.In) else None
    subquery = query.unnest() if query else None
    if not isinstance(subquery, exp.Select):
        return False
    return meant in get_conditions(subquery) and subquery.args["from_"].this == table


def _find_denied(conditions: Sequence[exp.Expr], text: str) -> _Denied | None:
    """Find the one condition that a thing must not meet: negated, in the text, or for a flag."""
    for invert in (_remove_negation, partial(_find_in_text, text=text), _read_flag):
        found = [_Denied(one, meant) for one in conditions if (meant := invert(one)) is not None]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _remove_negation(condition: exp.Expr) -> exp.Expr | None:
    """Return the condition that another one negates."""
    inner = condition.this.unnest() if isinstance(condition, exp.Not) else condition
    is_negated = isinstance(inner, exp.EQ | exp.Like) and inner is not condition
    if not (is_negated or isinstance(inner, exp.NEQ)) or not has_column_and_literal(inner):
        return None
    kind = exp.EQ if isinstance(inner, exp.NEQ) else type(inner)
    return kind(this=inner.this.copy(), expression=inner.expression.copy())


def _find_in_text(condition: exp.Expr, text: str) -> exp.Expr | None:
    """Return a condition whose value is in the text."""
    if not isinstance(condition, exp.EQ | exp.Like) or not has_column_and_literal(condition):
        return None
    value = re.escape(condition.expression.name.strip("%"))
    is_found = value and re.search(rf"(?<!\w){value}s?(?!\w)", text, re.IGNORECASE)
    return condition.copy() if is_found else None


def _read_flag(condition: exp.Expr) -> exp.Expr | None:
    """Return the condition for a flag: small models write it, or its opposite."""
    if not isinstance(condition, exp.EQ) or not has_column_and_literal(condition):
        return None
    flag = condition.expression.name.casefold()
    if flag in NO:
        return exp.NEQ(this=condition.this.copy(), expression=condition.expression.copy())
    return condition.copy() if flag in YES else None
