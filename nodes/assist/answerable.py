"""The question that a model answers in one token: can the database answer?"""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage

from planweave.prompts import load
from planweave.texts import without_gaps

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


class Refusal(NamedTuple):
    """When a question is refused.

    Attributes:
        chance: Asks the model for the chance that the database can answer.
        least: Below this chance the question is refused; at 0 the model is not asked.
    """

    chance: Chance
    least: float


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
