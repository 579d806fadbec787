"""Confirmed queries: earlier questions of an owner, each with the one query that answered it."""

import re
from itertools import islice
from typing import NamedTuple

from planweave.errors import StoreUnusable
from planweave.learning.experience import experience_of
from planweave.learning.paths import IN_CONTEXT, TaskPath
from planweave.learning.queries.memory import is_finish, likeness, parse_instruction
from planweave.learning.queries.slots import find_slots
from planweave.tools import Database, QueryFailed, QueryRefused
from planweave.tools.present import depends_on_present

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_MAX_CHARACTERS = 2_000
"""Longer questions with their queries are left out: three must fit into a small model's prompt."""
_MAX_TRIED = 100
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
    ranked = sorted(_find_latest(owner), key=lambda path: -likeness(question, path.question))
    usable = (found for path in ranked[:_MAX_TRIED] if (found := _read(path, database)))
    return tuple(reversed([*islice(usable, most)]))


def _find_latest(owner: str) -> list[TaskPath]:
    """The paths of an owner, the latest first; of paths for one question only the latest."""
    try:
        entries = experience_of(owner).entries()
    except StoreUnusable:
        return []
    latest: dict[str, TaskPath] = {}
    for path, _ in reversed(entries):
        latest.setdefault(" ".join(path.question.casefold().split()), path)
    return [*latest.values()]


def _read(path: TaskPath, database: Database) -> ConfirmedQuery | None:
    """The query of a path if it alone answered its question and fits the database."""
    actions = [text for text in path.instructions if not is_finish(text)]
    found = parse_instruction(actions[0]) if len(actions) == 1 else None
    if path.reward < 1 or path.origin.endswith(IN_CONTEXT) or found is None:
        return None
    tool, query = found
    fits = tool == ("cypher" if database.kind == "graph" else "sql")
    is_too_long = len(path.question) + len(query) > _MAX_CHARACTERS
    if not fits or is_too_long or find_slots(query) or _is_outdated(path.question, query):
        return None
    try:
        database.check(query)
    except (QueryFailed, QueryRefused):
        return None
    return ConfirmedQuery(path.question, query)


def _is_outdated(question: str, query: str) -> bool:
    """Whether a query has the days of a question such as "How many this month?"."""
    return depends_on_present(question) and bool(_YEAR.search(query))
