"""Averages of what is added up or counted for each, of which a small model writes half."""

from collections.abc import Iterable

from sqlglot import exp

from planweave.tools.asked_average import find_inner_aggregate


def average_each(
    select: exp.Select, question: str, columns: Iterable[str]
) -> tuple[exp.Select, list[str]]:
    """Average the one sum or number of each group, where the question asks for that alone."""
    values = [one for one in select.expressions if one.find(exp.AggFunc)]
    grouped = select.args.get("group") and not select.args.get("limit")
    added = [one for one in values if isinstance(one.unalias(), exp.Sum | exp.Count)]
    if (
        not grouped
        or len(values) != 1
        or values != added
        or not find_inner_aggregate(question, columns)
    ):
        return select, []
    (value,) = values
    name, inner = value.alias or "total", select.copy()
    inner.set("order", None)
    if not value.alias:
        unnamed = next(one for one in inner.expressions if one == value)
        unnamed.replace(exp.alias_(value.copy(), name))
    outer = exp.select(exp.Avg(this=exp.column(name))).from_(inner.subquery("each_one"))
    return outer, [f"averages {value.unalias().sql()}"]
