"""Refusal: calibrates the chance of an answer below which a question is refused.

A model answers in one word whether the tables can answer. The chance of a question is the
probability of "yes", corrected by the words that the database does not have. The threshold is
calibrated by split conformal prediction (Vovk et al. 2005; Papadopoulos et al. 2002): it is the
``floor((n + 1) a)``-th smallest chance of ``n`` answerable questions. So at most a share ``a`` of
new answerable questions of the same kind is refused, for any distribution of the chances. The share
of refused unanswerable questions is measured.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from planweave.benchmarks.core.metrics import Estimate, rate
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.core.table import ReportTable, Rows, table_of_rows
from planweave.benchmarks.suites.query_writing.question import QueryQuestion, make_need
from planweave.learning.question_words import correct_chance
from planweave.memory import Context
from planweave.models import achat_model, chance_of_yes
from planweave.nodes.assist.answerable import answerable_prompt
from planweave.nodes.assist.query_writer import (
    explain_terms,
    find_unknown_words,
    schema_prompt,
)
from planweave.tools.connect import open_database


class QuestionChance(NamedTuple):
    """A question, whether it is answerable, and its chance."""

    name: str
    answerable: bool
    chance: float


class Calibration(NamedTuple):
    """A threshold from one half of the questions, and its refusals in the other."""

    threshold: float | None  # questions with a smaller chance are refused; None if too few
    calibrated_on: int  # answerable questions of the first half
    lost: Estimate | None  # share of the answerable ones of the other half that are refused
    refused: Estimate | None  # share of the unanswerable ones of the other half that are refused


async def measure_chances(
    questions: Sequence[QueryQuestion], model: str, on_question: Callable[[], None]
) -> list[QuestionChance]:
    """Ask ``model`` for the chance of every question, database by database.

    A question with names that the database lacks has the chance 0 without a call. The chance is
    corrected by the words that the database does not have, as before a query is written.
    """
    context, found = Context(model=model), []
    tokens = context.reply_tokens
    asked = await achat_model(model, temperature=0.0, max_tokens=tokens)
    for question in sorted(questions, key=lambda one: str(one.source)):
        need = make_need(question)
        database = await asyncio.to_thread(open_database, question.source)
        ground = await asyncio.to_thread(
            schema_prompt, need, database, context.schema_characters * 2
        )
        chance = 0.0
        unknown, missing = await asyncio.to_thread(find_unknown_words, need, database)
        if not unknown:
            chance = 0.5
            if context.judges_questions:
                prompt = answerable_prompt(ground, need.question, explain_terms(need))
                chance = (await chance_of_yes(asked, prompt, role="query_writer")).yes
            chance = correct_chance(chance, missing)
        found.append(QuestionChance(question.id, question.answerable, chance))
        on_question()
    return found


def find_threshold(chances: Sequence[float], target: float) -> float | None:
    """The chance below which at most ``target`` of new answerable questions are, if any."""
    place = math.floor((len(chances) + 1) * target + 1e-9)
    return sorted(chances)[place - 1] if place else None


def calibrate(questions: Sequence[QuestionChance], *, target: float, seed: int) -> Calibration:
    """Find the threshold on a random half, and measure it on the other."""
    shuffled = drawn(questions, None, seed, lambda one: one.name)
    middle = len(shuffled) // 2
    chances = [one.chance for one in shuffled[:middle] if one.answerable]
    found = find_threshold(chances, target)
    if found is None:
        return Calibration(None, len(chances), None, None)
    others = shuffled[middle:]
    return Calibration(found, len(chances), *(_refused(others, found, a) for a in (True, False)))


def _refused(
    questions: Sequence[QuestionChance], below: float, answerable: bool
) -> Estimate | None:
    return rate([one.chance < below for one in questions if one.answerable == answerable])


def refusal_tables(
    questions: Sequence[QuestionChance], found: Calibration, target: float
) -> list[ReportTable]:
    """The calibration, the refusals of every threshold, and the errors."""
    calibrated = ReportTable(
        title="Calibrated threshold",
        columns=("threshold", "calibrated on", "unanswerable refused", "answerable refused"),
        rows=[(found.threshold, found.calibrated_on, found.refused, found.lost)],
        note=f"The chance of an answer that at most {target:.0%} of new answerable questions are "
        "below (split conformal prediction), found on the answerable questions of a random half; "
        "both shares are those of the other half. Questions below the threshold are refused.",
    )
    return [calibrated, _curve(questions), _errors(questions, found.threshold)]


@table_of_rows(
    "What each threshold refuses, all questions",
    "threshold | unanswerable refused | answerable refused",
)
def _curve(questions: Sequence[QuestionChance]) -> Rows:
    for step in range(10, 20):
        below = step / 20
        yield below, *(_refused(questions, below, answerable) for answerable in (False, True))


@table_of_rows("Errors at the threshold", "question | is | chance of an answer")
def _errors(questions: Sequence[QuestionChance], threshold: float | None) -> Rows:
    for one in questions:
        if (one.chance < (threshold or 0.0)) == one.answerable:
            what = "refused" if one.answerable else "not refused"
            yield one.name, what, one.chance
