"""The form for a value of each of several things; small models ask for single rows instead."""

import re

from planweave.prompts import load
from planweave.texts import COUNT
from planweave.tools import Database
from planweave.tools.asked_average import CLAUSE, find_inner_aggregate
from planweave.tools.sql import SqlDatabase

_END = r"(?:(?P<first{0}>first|earliest)|last|latest|newest|most recent)\b"
_SPAN = rf"(?:(?:{COUNT})\b|years?\b|months?\b|weeks?\b|quarters?\b|days\b)"
_TIME = r"\b(?:dates?|days?|times?|when)\b"
_OF_EACH = r"\b(?:each|every|all)\b(?! (?:quarter|month|week|year|day)s?\b)"
_ENDS = re.compile(
    rf"{_OF_EACH}[^.?;]*{_TIME}{CLAUSE}\b{_END.format(1)}(?!\W*$|[.,;?]| {_SPAN}| names?\b)"
    rf"|{_OF_EACH}[^.?;]*\b{_END.format(2)} (?:date|day|time)\b"
    rf"|\bwhen\b[^.?;]*\b(?:each|every)\b[^.?;]*\b{_END.format(3)}"
    rf"|{_TIME} of {CLAUSE}\b{_END.format(4)}[^.?;]*\b(?:of|for) (?:each|every)\b"
    rf"|{_OF_EACH}[^.?;]*\b(?:its|their) {_END.format(5)} \w+ (?:date|day|time)\b",
    re.IGNORECASE,
)
_BOTH_ENDS = re.compile(r"\bfirst\b.*\b(?:last|latest)\b", re.IGNORECASE)


def each_form(question: str, database: Database) -> str:
    """The form for an average of sums, or for the first or last of each; empty for others.

    "The average of the totals of each customer" adds up first, and "the average number of orders
    per customer" counts first. "The day of the last visit of each dog" needs a group for each dog.
    """
    if not isinstance(database, SqlDatabase):
        return ""
    names = [field.name for entity in database.schema().entities for field in entity.fields]
    if added := find_inner_aggregate(question, names):
        what = "SUM(<value>)" if added == "sum" else "COUNT(*)"
        return load("query_writer/average_of_each").fill(added=what)
    end = _ENDS.search(question)
    if not end or _BOTH_ENDS.search(question):
        return ""
    is_first = any(end[f"first{place}"] for place in range(1, 6))
    return load("query_writer/end_of_each").fill(end="MIN" if is_first else "MAX")
