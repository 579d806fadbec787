"""Confirmed queries: earlier questions of an owner, each with the one query that answered it."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from planweave.learning.paths import TaskPath
from planweave.learning.queries.literals import fill_for_question, find_sources
from planweave.learning.queries.memory import is_finish, likeness, parse_instruction
from planweave.tools import Database, Limits
from planweave.tools.present import depends_on_present

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class ConfirmedQuery(NamedTuple):
    """A question in words and the query that answered it."""

    question: str
    query: str


def find_confirmed(
    paths: Sequence[TaskPath], question: str, database: Database, limits: Limits, most: int
) -> tuple[ConfirmedQuery, ...]:
    """Find the confirmed queries of the most similar questions, the most similar last.

    Args:
        paths: The owner's paths that succeeded; among equally similar ones, the first are taken.
        question: The question to answer.
        database: Has the tables or labels that the queries read, and the values of their slots.
        limits: Limits of each look-up of a value.
        most: Most queries to return.
    """
    ranked = sorted(paths, key=lambda path: -likeness(question, path.question))
    found = islice(_find_usable(ranked, database, limits), most)
    return tuple(reversed([*found]))


def _find_usable(
    paths: Sequence[TaskPath], database: Database, limits: Limits
) -> Iterator[ConfirmedQuery]:
    """The queries that alone answered their questions, with the values that these name."""
    known = {entity.name.casefold() for entity in database.schema().entities}
    tool = "cypher" if database.kind == "graph" else "sql"

    def look_up(_: str, query: str) -> Sequence[str]:
        return database.run(query, limits).texts

    for path in paths:
        actions = [text for text in path.instructions if not is_finish(text)]
        if len(actions) != 1 or _is_outdated(path.question, actions[0]):
            continue
        sources = find_sources(actions[0])
        if sources and sources <= known:
            filled = fill_for_question(actions, path.question, look_up)
            read = parse_instruction(filled[0]) if filled else None
            if read and read[0] == tool:
                yield ConfirmedQuery(path.question, read[1])


def _is_outdated(question: str, query: str) -> bool:
    """Whether a query has the days of a question such as "How many this month?"."""
    return depends_on_present(question) and bool(_YEAR.search(query))
