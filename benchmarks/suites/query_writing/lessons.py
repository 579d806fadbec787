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
    answerable = [one for one in questions if one.answerable]
    others = [one for one in questions if not one.answerable]
    made = [_query_lesson(source, one) for one in _sample_questions(answerable, QUERIES, drawn)]
    made += [
        _answerable_lesson(source, one, "yes")
        for one in _sample_questions(answerable, ANSWERABLE, drawn)
    ]
    made += [
        _answerable_lesson(source, one, "no")
        for one in _sample_questions(others, UNANSWERABLE, drawn)
    ]
    made += [_rows_lesson(source, one, query) for one in answerable for query in one.tried]
    return made


def _sample_questions(
    questions: Sequence[QueryQuestion], count: int, drawn: random.Random
) -> list[QueryQuestion]:
    return drawn.sample(questions, min(count, len(questions)))


def _query_lesson(source: str, question: QueryQuestion) -> Lesson:
    database, need = open_database(source), make_need(question)
    prompt = schema_prompt(need, database, _LIMIT), task_prompt(need, database, None)
    return Lesson(prompt, question.readings[0].query, 1.0)


def _answerable_lesson(source: str, question: QueryQuestion, reply: str) -> Lesson:
    need = make_need(question)
    ground = schema_prompt(need, open_database(source), _LIMIT)
    return Lesson(answerable_prompt(ground, need.question, explain_terms(need)), reply, _JUDGED)


def _rows_lesson(source: str, question: QueryQuestion, query: str) -> Lesson:
    """A lesson on whether the rows of a model's query are the answer."""
    database, need = open_database(source), make_need(question)
    result = database.run(query, Limits())
    is_right = match_rows([[*row] for row in result.rows], question.readings).right
    ground = schema_prompt(need, database, _LIMIT)
    prompt = right_prompt(ground, need.question, explain_terms(need), result)
    return Lesson(prompt, "yes" if is_right else "no", _JUDGED)
