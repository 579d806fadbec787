"""Two groups that a question sets against each other: their difference or their ratio.

Small models filter by both groups at once, which is empty, or add them up together.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import exp

from planweave.tools.sql.slips import test_by, tests_of, values_of

_DIFFERENCE = re.compile(
    r"\bdifference between\b"
    r"|\bhow (?:much|many) (?:more|less|fewer|higher|lower|larger)\b.*\bthan\b",
    re.IGNORECASE,
)
_RATIO = re.compile(r"\bratio (?:of|between)\b", re.IGNORECASE)


class _Pair(NamedTuple):
    """Two values of a column that a query filters by, as the question orders them."""

    column: exp.Column
    first: exp.Expr
    second: exp.Expr
    rest: Sequence[exp.Expr]
    """What else the query filters by."""


def compare_two_groups(select: exp.Select, question: str) -> list[str]:
    """Set the number of one group against that of the other, where the question asks for it."""
    made = exp.Sub if _DIFFERENCE.search(question) else exp.Div if _RATIO.search(question) else None
    pair = _pair(select, question) if made else None
    return _set_against(select, pair, made, question) if made and pair else []


def _set_against(
    select: exp.Select, pair: _Pair, made: type[exp.Binary], question: str
) -> list[str]:
    """Compute the only number of a query for each value of a pair, and compare the two."""
    group = select.args.get("group")
    shown = [one.unalias() for one in select.expressions]
    keys = [one for one in shown if not one.find(exp.AggFunc)]
    keys += group.expressions if group else []
    if select.args.get("having") or any(key != pair.column for key in keys):
        return []
    aggregates = {one for number in shown for one in number.find_all(exp.AggFunc)}
    aggregate = aggregates.pop() if len(aggregates) == 1 else None
    numbers = (exp.Avg, exp.Count, exp.Max, exp.Min, exp.Sum)
    if not isinstance(aggregate, numbers) or aggregate.find(exp.Case):
        return []
    is_compared = any(isinstance(one, made) for one in shown)
    is_named = all(one.name.lower() in question.lower() for one in (pair.first, pair.second))
    if not is_compared and not is_named:
        return []
    first, second = (_of(aggregate, pair.column, one) for one in (pair.first, pair.second))
    select.set("expressions", [made(this=first, expression=second)])
    test_by(select, pair.rest)
    for clause in ("group", "order", "limit", "distinct"):
        select.set(clause, None)
    return [f"compares {pair.first.sql()} with {pair.second.sql()}"]


def _pair(select: exp.Select, question: str) -> _Pair | None:
    """The only two values that a query wants of one column."""
    tests = tests_of(select)
    wanted: dict[exp.Column, list[exp.Expr]] = {}
    for test in tests:
        for column, values in values_of(test):
            wanted.setdefault(column, []).extend(values)
    twice = [(column, values) for column, values in wanted.items() if len({*values}) == 2]
    if len(twice) != 1:
        return None
    column, values = twice[0]
    rest = [test for test in tests if not any(one == column for one, _ in values_of(test))]
    asked = question.lower()
    first, second = sorted(dict.fromkeys(values), key=lambda one: asked.find(one.name.lower()))
    return _Pair(column, first, second, rest)


def _of(aggregate: exp.AggFunc, column: exp.Expr, value: exp.Expr) -> exp.AggFunc:
    """The aggregate over the rows that have a value."""
    test = exp.EQ(this=column.copy(), expression=value.copy())
    what, made = aggregate.this, aggregate.copy()
    if isinstance(what, exp.Distinct):
        taken = exp.Case().when(test, what.expressions[0].copy())
        made.set("this", exp.Distinct(expressions=[taken]))
    elif isinstance(what, exp.Star):
        made.set("this", exp.Case().when(test, exp.Literal.number(1)))
    else:
        made.set("this", exp.Case().when(test, what.copy()))
    return made
