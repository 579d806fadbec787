"""A share divides a part by the whole; a condition on both makes every share 1."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from planweave.tools.sql.slips import tests_of

if TYPE_CHECKING:
    from sqlglot import exp

_SHARE = re.compile(
    r"\bper ?cent|%|\b(?:share|fraction|proportion|ratio|rate|part)\b|\bout of\b|\bevery hundred\b",
    re.IGNORECASE,
)


def divide_by_the_whole(
    select: "exp.Select", question: str, differ: Callable[["exp.Select"], bool]
) -> list[str]:
    """Let the condition of a share hold for its part alone, where the share is 1 otherwise.

    ``COUNT(*) / COUNT(id) … WHERE a = 1`` counts the same rows twice. Of several conditions it is
    not sure which one tells the part from the whole.

    Args:
        select: Changed in place.
        question: What is asked.
        differ: Whether a query for two numbers gives two that differ.
    """
    from sqlglot import exp

    if not _SHARE.search(question):
        return []
    if changes := _of_those_with_the_part(select):
        return changes
    if select.args.get("group"):
        return _of_all_groups(select)
    where = select.args.get("where")
    if where is None or isinstance(where.this, exp.And):
        return []
    for division in [one for shown in select.expressions for one in shown.find_all(exp.Div)]:
        above, below = _only_aggregate(division.this), _only_aggregate(division.expression)
        if above is None or below is None or not differ(_if_equal(select, above, below)):
            continue
        what = above.this if isinstance(above, exp.Sum) else exp.Literal.number(1)
        part = exp.Case().when(where.this.copy(), what.copy()).else_(exp.Literal.number(0))
        above.replace(exp.Sum(this=part))
        where.pop()
        return [f"a share of all, not of those with {where.this.sql()}"]
    return []


def _of_those_with_the_part(select: "exp.Select") -> list[str]:
    """``SUM(CASE WHEN a …) / COUNT(*) … WHERE a`` is 1: the whole is not those with ``a``."""
    from sqlglot import exp

    where = select.args.get("where")
    tests = tests_of(where) if where else []
    divisions = [one for shown in select.expressions for one in shown.find_all(exp.Div)]
    parts = [case.this for one in divisions for case in one.this.find_all(exp.If)]
    kept = [test for test in tests if test not in parts]
    if len(kept) == len(tests):
        return []
    left = [test.sql() for test in tests if test in parts]
    select.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    return [f"a share of all, not of those with {test}" for test in left]


def _of_all_groups(select: "exp.Select") -> list[str]:
    """``SUM(a) / SUM(a) … GROUP BY b`` is 1 for each group: the whole is that of all groups."""
    from sqlglot import exp

    changes = []
    for division in [one for shown in select.expressions for one in shown.find_all(exp.Div)]:
        above, below = (
            [*side.find_all(exp.AggFunc)] for side in (division.this, division.expression)
        )
        if len(above) != 1 or len(below) != 1 or division.find(exp.Window, exp.Select):
            continue
        if _counted(above[0]) == _counted(below[0]) or _is_each(above[0], below[0]):
            whole = exp.Window(this=exp.Sum(this=below[0].copy()))
            changes.append(f"a share of all groups, not of one: {whole.sql()}")
            below[0].replace(whole)
    return changes


def _counted(aggregate: "exp.AggFunc") -> str:
    """An aggregate as text; all that count every row of a group are the same."""
    from sqlglot import exp

    is_plain = isinstance(aggregate, exp.Count) and not aggregate.find(exp.Distinct, exp.Case)
    return "COUNT" if is_plain else aggregate.sql()


def _is_each(above: "exp.AggFunc", below: "exp.AggFunc") -> bool:
    """Whether a condition only says what is counted below: ``WHEN NOT id IS NULL`` of ids."""
    from sqlglot import exp

    case = above.find(exp.Case)
    tests = [one.this for one in case.args["ifs"]] if case else []
    if len(tests) != 1 or not isinstance(tests[0], exp.Not) or not isinstance(below, exp.Count):
        return False
    return tests[0].find(exp.Is) is not None and tests[0].find(exp.Column) == below.this


def _only_aggregate(side: "exp.Expr") -> "exp.AggFunc | None":
    """The count or sum of plain rows on one side of a division; None if it has something else."""
    from sqlglot import exp

    found = list(side.find_all(exp.AggFunc))
    if len(found) != 1 or not isinstance(found[0], exp.Count | exp.Sum):
        return None
    return None if side.find(exp.Case, exp.If, exp.Select, exp.Filter) else found[0]


def _if_equal(select: "exp.Select", above: "exp.AggFunc", below: "exp.AggFunc") -> "exp.Select":
    """The query for two numbers that differ if both aggregates are the same."""
    from sqlglot import exp

    comparing = select.copy()
    same = exp.EQ(this=above.copy(), expression=below.copy())
    one, none = exp.Literal.number(1), exp.Literal.number(0)
    comparing.set("expressions", [one, exp.Case().when(same, none).else_(one.copy())])
    return comparing
