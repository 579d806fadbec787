"""Questions that a model answers in one token: can the database answer, and do these rows?"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage

from planweave.prompts import load
from planweave.texts import without_gaps
from planweave.tools import QueryResult
from planweave.tools.result_text import result_text

Chance: TypeAlias = Callable[[Sequence[BaseMessage]], Awaitable[float]]
"""Asks the model a question; returns the chance of yes, from 0 to 1."""

_DENIALS = (
    (re.compile(r"\bwithout\b", re.IGNORECASE), "with"),
    (re.compile(r"\bnot (?:a single|any)\b|\bno\b", re.IGNORECASE), "any"),
    (re.compile(r"\bcan(?:not|['\u2019]t)\b", re.IGNORECASE), "can"),
    (re.compile(r"\b(?:nobody|no one)\b", re.IGNORECASE), "somebody"),
    (re.compile(r"\b(?:never|not) |n['\u2019]t\b", re.IGNORECASE), ""),
)
"""Words that make a question negative, with the words of the positive question."""
_ROWS_SHOWN, _ROWS_CHARACTERS = 4, 600


class YesOrNo(NamedTuple):
    """Judgements of the model.

    Attributes:
        answerable: The chance that a database can answer.
        least_answerable: Below this chance a question is refused; 0 for never.
        right: The chance that the rows of a query are the answer; None to ask for none.
    """

    answerable: Chance
    least_answerable: float
    right: Chance | None


def answerable_prompt(
    ground: BaseMessage, question: str, instructions: str
) -> Sequence[BaseMessage]:
    """The schema, and the question whether the database can answer.

    Small models say no to a negative question, so the prompt has the positive one.
    """
    for denial, affirmed in _DENIALS:
        question = denial.sub(affirmed, question)
    asked = load("query_writer/answerable").fill(question=question, instructions=instructions)
    return ground, HumanMessage(without_gaps(asked))


def right_prompt(
    ground: BaseMessage, question: str, instructions: str, result: QueryResult
) -> Sequence[BaseMessage]:
    """The schema, and the question whether the rows of a query are the answer."""
    few = replace(result, rows=result.rows[:_ROWS_SHOWN])
    asked = load("query_writer/right").fill(
        question=question,
        instructions=instructions,
        query=result.query,
        rows=result_text(few, max_characters=_ROWS_CHARACTERS),
    )
    return ground, HumanMessage(without_gaps(asked))
