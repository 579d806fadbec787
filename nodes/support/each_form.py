"""What is asked of each of several things, and a small model asks of single rows: the form."""

import re

from sqlglot import exp

from planweave.prompts import load
from planweave.texts import COUNT
from planweave.tools import Database
from planweave.tools.sql import SqlDatabase
from planweave.tools.sql.averages import averaged

_SPAN = rf"(?:{COUNT}|years?|months?|weeks?|quarters?|days?)\b"
_ENDS = re.compile(
    r"\b(?:each|every)\b[^.?;]*\b(?:dates?|days?|when)\b[^.?;]*"
    rf"\b(?:(?P<first>first|earliest)|last|latest|most recent)\b(?!\W*$|[.,;?]| {_SPAN})"
    r"|\bwhen\b[^.?;]*\b(?:each|every)\b[^.?;]*\b(?:(?P<begun>first|earliest)|last|latest)\b",
    re.IGNORECASE,
)
_BOTH_ENDS = re.compile(r"\bfirst\b.*\b(?:last|latest)\b", re.IGNORECASE)


def each_form(question: str, database: Database) -> str:
    """The form of an average of sums, or of the first or last of each; empty without one.

    "The average of the totals of each customer" adds up first, and "the average number of orders
    per customer" counts first. "The day of the last visit of each dog" is none of a single visit.
    """
    if not isinstance(database, SqlDatabase):
        return ""
    names = [field.name for entity in database.schema().entities for field in entity.fields]
    if added := averaged(question, names):
        what = "SUM(<value>)" if added is exp.Sum else "COUNT(*)"
        return load("query_writer/average_of_each").fill(added=what)
    end = _ENDS.search(question)
    if not end or _BOTH_ENDS.search(question):
        return ""
    return load("query_writer/end_of_each").fill(
        end="MIN" if end["first"] or end["begun"] else "MAX"
    )
