"""The adapter's training data: prompts of the query writer with good replies.

There are three kinds of lessons: whether the database can answer a question; the query of a
question; and whether the rows of a model's query are the answer. The shipped adapter learned all
three. Its queries were worse than those of the published model, so it only judges.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from langchain_core.messages import BaseMessage

from planweave.benchmarks.suites.query_writing.compare import match_rows
from planweave.benchmarks.suites.query_writing.question import QueryQuestion, make_need
from planweave.memory import Context
from planweave.nodes.assist.query_writer import explain_terms, schema_prompt, task_prompt
from planweave.nodes.assist.yes_or_no import answerable_prompt, right_prompt
from planweave.tools import Limits
from planweave.tools.connect import open_database

QUERIES, ANSWERABLE, UNANSWERABLE = 13, 7, 8
"""Lessons of each kind that a pass draws from a database."""
_LIMIT = Context().schema_characters * 2
_JUDGED = 1.2
"""Weight of a judgement; that of a query is 1."""


class Lesson(NamedTuple):
    """A prompt, the wanted reply, and its weight."""

    prompt: Sequence[BaseMessage]
    reply: str
    weight: float


def lessons(questions: Iterable[QueryQuestion], *, seed: int) -> list[list[Lesson]]:
    """The lessons of one pass, grouped by database, since these share the schema."""
    by_database = defaultdict(list)
    for question in questions:
        by_database[question.source].append(question)
    drawn = random.Random(seed)
    return [_database_lessons(source, some, drawn) for source, some in sorted(by_database.items())]


def _database_lessons(
    source: str, questions: Sequence[QueryQuestion], drawn: random.Random
) -> list[Lesson]:
    database = open_database(source)
    answerable = [one for one in questions if one.answerable]
    others = [one for one in questions if not one.answerable]
    made = []
    for question in _sample(answerable, QUERIES, drawn):
        need = make_need(question)
        prompt = schema_prompt(need, database, _LIMIT), task_prompt(need, database, None)
        made.append(Lesson(prompt, question.readings[0].query, 1.0))
    for some, count, reply in ((answerable, ANSWERABLE, "yes"), (others, UNANSWERABLE, "no")):
        for need in map(make_need, _sample(some, count, drawn)):
            ground = schema_prompt(need, database, _LIMIT)
            judged = answerable_prompt(ground, need.question, explain_terms(need))
            made.append(Lesson(judged, reply, _JUDGED))
    for question in answerable:
        need = make_need(question)
        for query in question.tried:
            result = database.run(query, Limits())
            is_right = match_rows([[*row] for row in result.rows], question.readings).right
            ground = schema_prompt(need, database, _LIMIT)
            judged = right_prompt(ground, need.question, explain_terms(need), result)
            made.append(Lesson(judged, "yes" if is_right else "no", _JUDGED))
    return made


def _sample(
    questions: Sequence[QueryQuestion], count: int, drawn: random.Random
) -> list[QueryQuestion]:
    return drawn.sample(questions, min(count, len(questions)))
