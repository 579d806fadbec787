"""Averages of what is added up or counted for each, for which a small model writes half a query."""

import re
from collections.abc import Iterable

from sqlglot import exp

from planweave.tools.linking import parts_of, plain, stem

_AVERAGE = r"\b(?:averages?|mean|typical(?:ly)?)\b"
_AVERAGES = re.compile(_AVERAGE, re.IGNORECASE)
_SUMS = re.compile(
    rf"{_AVERAGE}[^.?;]*\b(?:of|over|these|those) (?:(?:the|their|these|those) )?(?:\w+ )?"
    r"(?:totals?|sums)\b"
    rf"|\b(?:add(?:ing)? up|sum|total)\b.*[.,;?:] .*{_AVERAGE}"
    r"|\b(?:in total|in all|altogether)\b[^.?;]*\bon average\b"
    rf"|{_AVERAGE}[^.?;,]*\btotals?\b[^.?;,]*\b(?:per|for each)\b"
    r"|\baverage (?!and\b)\w+ totals?\b",
    re.IGNORECASE,
)
_NUMBERS = re.compile(
    rf"{_AVERAGE} (?:number|count) of (?P<counted>[^.?;,]+?) (?:per|for each|of each)\b"
    r"|\bhow many (?P<done>[^.?;,]+?) (?:do|does|did|has|have|is|are) (?:a|an|one|each|every)\b",
    re.IGNORECASE,
)
_UNITS = frozenset({"minute", "hour", "day", "night", "week", "month", "year"})


def averaged(question: str, columns: Iterable[str]) -> type[exp.Sum | exp.Count] | None:
    """What a question asks to do for each before the average; None if it asks for no such one.

    "The average of the totals of each customer" adds up first, and "the average number of orders
    per customer" counts first. "The average number of days" is that of a value of each row, as is
    that of what one of the ``columns`` holds.
    """
    if _SUMS.search(question):
        return exp.Sum
    found = _NUMBERS.search(question) if _AVERAGES.search(question) else None
    said = (found["counted"] or found["done"]) if found else ""
    counted = {stem(word) for word in plain(said).split()}
    if not counted or counted & _UNITS:
        return None
    held = ({stem(part.casefold()) for part in parts_of(name)} for name in columns)
    return None if any(words <= counted for words in held) else exp.Count


def average_each(
    select: exp.Select, question: str, columns: Iterable[str]
) -> tuple[exp.Select, list[str]]:
    """Average the one sum or number of each group, where the question asks for that alone."""
    values = [one for one in select.expressions if one.find(exp.AggFunc)]
    grouped = select.args.get("group") and not select.args.get("limit")
    added = [one for one in values if isinstance(one.unalias(), exp.Sum | exp.Count)]
    if not grouped or len(values) != 1 or values != added or not averaged(question, columns):
        return select, []
    (value,) = values
    inner = select.copy()
    inner.set("order", None)
    total = next(one for one in inner.expressions if one == value)
    total.replace(exp.alias_(total.unalias().copy(), "total"))
    outer = exp.select(exp.Avg(this=exp.column("total"))).from_(inner.subquery("each_one"))
    return outer, [f"averages {value.unalias().sql()}"]
