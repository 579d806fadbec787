"""Confirmed queries: earlier questions of an owner, each with the one query that answered it."""

import re
from typing import NamedTuple

from planweave.errors import StoreUnusable
from planweave.learning.experience import experience_of
from planweave.learning.paths import IN_CONTEXT, TaskPath
from planweave.learning.queries.memory import (
    LIKENESS,
    is_finish,
    likeness,
    parse_instruction,
)
from planweave.learning.queries.slots import find_slots
from planweave.nodes.support.turns import normalise
from planweave.tools import Database, QueryFailed, QueryRefused
from planweave.tools.present import depends_on_present

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CLOCK = re.compile(r"\bnow\b|\bcurrent_|\bcurdate\b|\b(?:date|datetime|timestamp)\(\)", re.I)
_MAX_CHARACTERS = 2_000
"""Longer questions with their queries are left out: several must fit into a small prompt."""
_MAX_TRIED = 500
"""Most questions whose queries are checked against the schema."""


class ConfirmedQuery(NamedTuple):
    """A question in words and the query that answered it."""

    question: str
    query: str


def find_confirmed(
    owner: str, question: str, database: Database, most: int
) -> tuple[ConfirmedQuery, ...]:
    """Find the confirmed queries of the most similar questions, the most similar last.

    Args:
        owner: Whose experience is read; none is found if it cannot be read.
        question: The question to answer.
        database: Must have all names that the queries use.
        most: Most queries to return.
    """
    if not most:
        return ()
    tool = "cypher" if database.kind == "graph" else "sql"
    alike = [(likeness(question, one.question), one) for one in _read(owner, tool)]
    ranked = sorted(alike, key=lambda pair: -pair[0])[:_MAX_TRIED]
    # Queries of other questions help to write SQL, but not Cypher (results/queries/aids.md).
    least = LIKENESS if tool == "cypher" else 0.0
    fitting = (one for share, one in ranked if share >= least and _fits(one.query, database))
    latest: dict[str, ConfirmedQuery] = {}  # by question: its latest right query
    for one in fitting:
        latest.setdefault(same_words(one.question), one)
        if len(latest) == most:
            break
    return tuple(reversed(latest.values()))


def same_words(question: str) -> str:
    """A question without differences in case, blanks, and the sign at its end."""
    return " ".join(question.casefold().split()).rstrip("?!. ")


def answers_again(one: ConfirmedQuery, question: str) -> bool:
    """Whether a confirmed query answers this question, today as on the day it was confirmed.

    Its years must be in the question, and it must ask the database's clock if the question depends
    on the day.
    """
    years = {*_YEAR.findall(one.query)} - {*_YEAR.findall(question)}
    is_timeless = _CLOCK.search(one.query) or not depends_on_present(question)
    return same_words(one.question) == same_words(question) and not years and bool(is_timeless)


def _read(owner: str, tool: str) -> list[ConfirmedQuery]:
    """The queries of this tool that alone answered their questions, the latest first."""
    try:
        entries = experience_of(owner).entries()
    except StoreUnusable:
        return []
    latest: dict[tuple[str, str], tuple[ConfirmedQuery, bool]] = {}  # the verdict on each query
    for path, _ in reversed(entries):
        if one := _query_of(path, tool):
            key = same_words(one.question), normalise(one.query)
            latest.setdefault(key, (one, path.reward >= 1))
    return [one for one, is_right in latest.values() if is_right]


def _query_of(path: TaskPath, tool: str) -> ConfirmedQuery | None:
    """The question and the query of a path; None if it cannot be an example."""
    actions = [text for text in path.instructions if not is_finish(text)]
    found = parse_instruction(actions[0]) if len(actions) == 1 else None
    if found is None or found[0] != tool or path.origin.endswith(IN_CONTEXT):
        return None
    one = ConfirmedQuery(path.question, found[1])
    is_too_long = len(one.question) + len(one.query) > _MAX_CHARACTERS
    return None if is_too_long or find_slots(one.query) or _is_outdated(*one) else one


def _fits(query: str, database: Database) -> bool:
    try:
        database.check(query)
    except (QueryFailed, QueryRefused):
        return False
    return True


def _is_outdated(question: str, query: str) -> bool:
    """Whether a query fixes days that its question counts from today."""
    return depends_on_present(question) and bool(_YEAR.search(query))
