"""Averages of what is added up or counted for each thing, as a question asks for them."""

import re
from collections.abc import Iterable
from typing import Literal

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


def averaged_of_each(question: str, columns: Iterable[str]) -> Literal["", "sum", "count"]:
    """What a question asks to do for each before the average; empty if nothing.

    "The average of the totals of each customer" adds up first, and "the average number of orders
    per customer" counts first. "The average number of days" is that of a value of each row, as is
    that of what one of the ``columns`` holds.
    """
    if _SUMS.search(question):
        return "sum"
    found = _NUMBERS.search(question) if _AVERAGES.search(question) else None
    said = (found["counted"] or found["done"]) if found else ""
    counted = {stem(word) for word in plain(said).split()}
    if not counted or counted & _UNITS:
        return ""
    held = ({stem(part.casefold()) for part in parts_of(name)} for name in columns)
    return "" if any(words <= counted for words in held) else "count"
