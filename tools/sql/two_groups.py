"""Two groups that a question compares: their difference or their ratio.

Small models filter by both groups at once, which finds no row, or add them up together.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import exp

from planweave.tools.sql.tree import (
    clear_clauses,
    get_compared_values,
    get_conditions,
    get_outputs,
    set_conditions,
)

_DIFFERENCE = re.compile(
    r"\bdifference between\b"
    r"|\bhow (?:much|many) (?:more|less|fewer|higher|lower|larger)\b.*\bthan\b",
    re.IGNORECASE,
)
_RATIO = re.compile(r"\bratio (?:of|between)\b", re.IGNORECASE)


class _Pair(NamedTuple):
    """Two values of a column that a query filters by, in the order of the question."""

    column: exp.Column
    first: exp.Expr
    second: exp.Expr
    other_conditions: Sequence[exp.Expr]


def compare_two_groups(select: exp.Select, question: str) -> list[str]:
    """Compute the number of a query for each of two groups, and their difference or ratio."""
    asks_difference, asks_ratio = _DIFFERENCE.search(question), _RATIO.search(question)
    operator = exp.Sub if asks_difference else exp.Div if asks_ratio else None
    pair = _find_pair(select, question) if operator else None
    if operator is None or pair is None:
        return []
    group = select.args.get("group")
    shown = get_outputs(select)
    keys = [one for one in shown if not one.find(exp.AggFunc)]
    keys += group.expressions if group else []
    if select.args.get("having") or any(key != pair.column for key in keys):
        return []
    aggregates = {one for number in shown for one in number.find_all(exp.AggFunc)}
    aggregate = aggregates.pop() if len(aggregates) == 1 else None
    numbers = (exp.Avg, exp.Count, exp.Max, exp.Min, exp.Sum)
    if not isinstance(aggregate, numbers) or aggregate.find(exp.Case):
        return []
    is_compared = any(isinstance(one, operator) for one in shown)
    is_named = all(one.name.lower() in question.lower() for one in (pair.first, pair.second))
    if not is_compared and not is_named:
        return []
    values = (pair.first, pair.second)
    first, second = (_build_aggregate(aggregate, pair.column, value) for value in values)
    select.set("expressions", [operator(this=first, expression=second)])
    set_conditions(select, pair.other_conditions)
    clear_clauses(select, "group", "order", "limit", "distinct")
    return [f"compares {pair.first.sql()} with {pair.second.sql()}"]


def _find_pair(select: exp.Select, question: str) -> _Pair | None:
    """Find the only two values that a query selects from one column."""
    conditions = get_conditions(select)
    wanted: dict[exp.Column, list[exp.Expr]] = {}
    for condition in conditions:
        for column, values in _find_wanted_values(condition):
            wanted.setdefault(column, []).extend(values)
    pairs = [(column, values) for column, values in wanted.items() if len({*values}) == 2]
    if len(pairs) != 1:
        return None
    column, values = pairs[0]
    rest = [
        one
        for one in conditions
        if not any(other == column for other, _ in _find_wanted_values(one))
    ]
    asked = question.lower()
    first, second = sorted(dict.fromkeys(values), key=lambda one: asked.find(one.name.lower()))
    return _Pair(column, first, second, rest)


def _find_wanted_values(condition: exp.Expr) -> list[tuple[exp.Column, list[exp.Expr]]]:
    """Find the column that a condition compares with literals, and the literals; at most one."""
    if isinstance(condition, exp.Paren | exp.Or):
        sides = [*condition.unnest().flatten()] if condition.find(exp.Or) else []
        found = [one for side in sides for one in _find_wanted_values(side)]
        columns = {column for column, _ in found}
        if len(sides) < 2 or len(columns) != 1 or len(found) != len(sides):
            return []
        return [(columns.pop(), [value for _, values in found for value in values])]
    if not isinstance(condition, exp.EQ | exp.In) or condition.args.get("query"):
        return []
    values = get_compared_values(condition)
    are_literals = all(isinstance(one, exp.Literal) for one in values)
    is_column = isinstance(condition.this, exp.Column)
    return [(condition.this, values)] if is_column and are_literals else []


def _build_aggregate(aggregate: exp.AggFunc, column: exp.Expr, value: exp.Expr) -> exp.AggFunc:
    """Build the aggregate over the rows that have a value."""
    is_equal = exp.EQ(this=column.copy(), expression=value.copy())
    what, built = aggregate.this, aggregate.copy()
    if isinstance(what, exp.Distinct):
        taken = exp.Case().when(is_equal, what.expressions[0].copy())
        built.set("this", exp.Distinct(expressions=[taken]))
    elif isinstance(what, exp.Star):
        built.set("this", exp.Case().when(is_equal, exp.Literal.number(1)))
    else:
        built.set("this", exp.Case().when(is_equal, what.copy()))
    return built
