"""What a small model is asked in one token: can the database answer, and do these rows?"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage

from planweave.prompts import load
from planweave.texts import without_gaps
from planweave.tools import QueryResult
from planweave.tools.result_text import result_text

Sure: TypeAlias = Callable[[Sequence[BaseMessage]], Awaitable[float]]
"""How likely the model answers a prompt with yes, from 0 to 1."""

_DENIALS = (
    (re.compile(r"\bwithout\b", re.IGNORECASE), "with"),
    (re.compile(r"\bnot (?:a single|any)\b|\bno\b", re.IGNORECASE), "any"),
    (re.compile(r"\bcan(?:not|['\u2019]t)\b", re.IGNORECASE), "can"),
    (re.compile(r"\b(?:nobody|no one)\b", re.IGNORECASE), "somebody"),
    (re.compile(r"\b(?:never|not) |n['\u2019]t\b", re.IGNORECASE), ""),
)
"""What makes a question ask for what is not so, and what it says without that."""
_ROWS_SHOWN, _ROWS_CHARACTERS = 4, 600


class YesOrNo(NamedTuple):
    """What the model is asked for yes or no, and what its word counts for.

    Attributes:
        answerable: Asks the model whether a database can answer.
        least_answerable: A question is refused if the model finds that less likely; 0 for never.
        right: Asks the model whether the rows of a query are the answer; None for never.
    """

    answerable: Sure
    least_answerable: float
    right: Sure | None


def answerable_prompt(
    ground: BaseMessage, question: str, instructions: str
) -> Sequence[BaseMessage]:
    """Asks in one word whether a question can be answered, behind the schema.

    Small models say no to a question for what never happened, so they are asked for what did.
    """
    for denial, affirmed in _DENIALS:
        question = denial.sub(affirmed, question)
    asked = load("query_writer/answerable").fill(question=question, instructions=instructions)
    return ground, HumanMessage(without_gaps(asked))


def right_prompt(
    ground: BaseMessage, question: str, instructions: str, result: QueryResult
) -> Sequence[BaseMessage]:
    """Asks in one word whether the rows of a query are the answer, behind the schema."""
    few = replace(result, rows=result.rows[:_ROWS_SHOWN])
    asked = load("query_writer/right").fill(
        question=question,
        instructions=instructions,
        query=result.query,
        rows=result_text(few, max_characters=_ROWS_CHARACTERS),
    )
    return ground, HumanMessage(without_gaps(asked))
