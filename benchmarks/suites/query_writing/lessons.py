"""What the adapter learns from: prompts of the query writer, and good replies.

Of each database some questions, with an answer and without, for the question whether the database
can answer; some with the query to be written; and queries that a model wrote, for the question
whether their rows are the answer. The adapter that ships learned all three. Its queries were worse
than those of the model as published, so it only judges.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from langchain_core.messages import BaseMessage

from planweave.benchmarks.suites.query_writing.compare import match
from planweave.benchmarks.suites.query_writing.question import QueryQuestion, need_of
from planweave.memory import Context
from planweave.nodes.assist.query_writer import ground_of, notes_of, task_of
from planweave.nodes.assist.yes_or_no import answerable_prompt, right_prompt
from planweave.tools import Limits
from planweave.tools.connect import open_database

QUERIES, ANSWERABLE, UNANSWERABLE = 13, 7, 8
"""Lessons of each kind that a pass takes from a database."""
_LIMIT = Context().schema_characters * 2
_JUDGED = 1.2
"""What a judgement counts for beside a query."""


class Lesson(NamedTuple):
    """A prompt, the reply that is aimed at, and what it counts for."""

    prompt: Sequence[BaseMessage]
    reply: str
    weight: float


def lessons(questions: Iterable[QueryQuestion], *, seed: int) -> list[list[Lesson]]:
    """One pass: those of each database, which have its schema in common."""
    by_database = defaultdict(list)
    for question in questions:
        by_database[question.source].append(question)
    drawn = random.Random(seed)
    return [_of_database(source, some, drawn) for source, some in sorted(by_database.items())]


def _of_database(
    source: str, questions: Sequence[QueryQuestion], drawn: random.Random
) -> list[Lesson]:
    answerable = [one for one in questions if one.answerable]
    others = [one for one in questions if not one.answerable]
    made = [_query(source, one) for one in _some(answerable, QUERIES, drawn)]
    made += [_judgement(source, one, "yes") for one in _some(answerable, ANSWERABLE, drawn)]
    made += [_judgement(source, one, "no") for one in _some(others, UNANSWERABLE, drawn)]
    made += [_word_on_rows(source, one, query) for one in answerable for query in one.tried]
    return made


def _some(
    questions: Sequence[QueryQuestion], count: int, drawn: random.Random
) -> list[QueryQuestion]:
    return drawn.sample(questions, min(count, len(questions)))


def _query(source: str, question: QueryQuestion) -> Lesson:
    database, need = open_database(source), need_of(question)
    prompt = ground_of(need, database, _LIMIT), task_of(need, database, None)
    return Lesson(prompt, question.readings[0].query, 1.0)


def _judgement(source: str, question: QueryQuestion, reply: str) -> Lesson:
    need = need_of(question)
    ground = ground_of(need, open_database(source), _LIMIT)
    return Lesson(answerable_prompt(ground, need.question, notes_of(need)), reply, _JUDGED)


def _word_on_rows(source: str, question: QueryQuestion, query: str) -> Lesson:
    """Whether the rows of a query that a model wrote are the answer."""
    database, need = open_database(source), need_of(question)
    result = database.run(query, Limits())
    is_right = match([[*row] for row in result.rows], question.readings).right
    ground = ground_of(need, database, _LIMIT)
    prompt = right_prompt(ground, need.question, notes_of(need), result)
    return Lesson(prompt, "yes" if is_right else "no", _JUDGED)
