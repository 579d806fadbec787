"""Averages of sums or counts, such as the average number of orders per customer."""

import re
from collections.abc import Iterable
from typing import Literal

from planweave.tools.linking import plain, singular, singulars_of

_AVERAGE = r"\b(?:averages?|mean|typical(?:ly)?)\b"
CLAUSE = r"(?:(?!\band\b)[^.?;]){0,400}"
"""Text of the same clause: "in total, and how much on average" asks for two values."""
_SUMS = re.compile(
    rf"{_AVERAGE}{CLAUSE}\b(?:(?:of |over )?(?:these|those)|(?:of|over) (?:the|their)) (?:\w+ )?"
    rf"(?:totals|sums)\b|{_AVERAGE} of (?:the|their) total\b"
    rf"|\badd(?:ing)? up\b.*[.,;?:] .*{_AVERAGE}"
    rf"|\b(?:in total|in all|altogether)\b{CLAUSE}\bon average\b"
    rf"|{_AVERAGE}(?: (?!and\b|or\b)\w+)? totals?\b",
    re.IGNORECASE,
)
_DONE = r"how many (?P<{0}>[^.?;,]+?) (?:do|does|did|has|have) (?:a|an|one|each|every)\b"
_NUMBERS = re.compile(
    rf"{_AVERAGE} (?:number|count) of (?P<counted>[^.?;,]+?) (?:per|for each|of each)\b"
    rf"|\bon average,? {_DONE.format('then')}|\b{_DONE.format('done')}{CLAUSE}\bon average\b",
    re.IGNORECASE,
)
_UNITS = frozenset({"minute", "hour", "day", "night", "week", "month", "year"})


def find_inner_aggregate(question: str, columns: Iterable[str]) -> Literal["", "sum", "count"]:
    """Find the aggregate whose average a question asks for; empty if there is none.

    "The average of the totals of each customer" first takes a sum, "the average number of orders
    per customer" a count. "The average number of days" averages a value of each row, and so does
    the average of one of the ``columns``.
    """
    if _SUMS.search(question):
        return "sum"
    found = _NUMBERS.search(question)
    noun = next(filter(None, found.groups()), "") if found else ""
    counted = {singular(word) for word in plain(noun).split()}
    if not counted or counted & _UNITS:
        return ""
    return "" if any(singulars_of(name) <= counted for name in columns) else "count"
