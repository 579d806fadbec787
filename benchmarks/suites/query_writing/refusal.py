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

from planweave.benchmarks.core.table import ReportTable, Rows, table_of_rows
from planweave.benchmarks.suites.query_writing.abstention import (
    Calibration,
    ConfidencePoint,
    calibration_table,
    curves_table,
)
from planweave.benchmarks.suites.query_writing.question import QueryQuestion
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


async def measure_chances(
    questions: Sequence[QueryQuestion], model: str, on_question: Callable[[], None]
) -> list[ConfidencePoint]:
    """Ask ``model`` for the chance of every question, database by database.

    A question with names that the database lacks has the chance 0 without a call. The chance is
    corrected by the words that the database does not have, as before a query is written.
    """
    context, found = Context(model=model), []
    tokens = context.reply_tokens
    asked = await achat_model(model, temperature=0.0, max_tokens=tokens)
    for question in sorted(questions, key=lambda one: str(one.source)):
        need = question.task.need
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
        found.append(
            ConfidencePoint(
                question=question.id,
                confidence=chance,
                answerable=question.answerable,
                answered=True,
                right=question.answerable,
            )
        )
        on_question()
    return found


def find_threshold(points: Sequence[ConfidencePoint], target: float) -> float | None:
    """The chance below which at most ``target`` of new answerable questions are, if any."""
    chances = sorted(point.confidence for point in points if point.answerable)
    place = math.floor((len(chances) + 1) * target + 1e-9)
    return chances[place - 1] if place else None


def refusal_tables(
    model: str, points: Sequence[ConfidencePoint], found: Calibration, target: float
) -> list[ReportTable]:
    """The calibration, the refusals of every threshold, and the errors."""
    meaning = (
        f"The chance of an answer that at most {target:.0%} of new answerable questions are "
        "below (split conformal prediction, by the answerable ones of those it is calibrated on)"
    )
    return [
        calibration_table({model: found}, meaning),
        curves_table({model: points}),
        _errors(points, found.threshold),
    ]


@table_of_rows("Errors at the threshold", "question | is | chance of an answer")
def _errors(points: Sequence[ConfidencePoint], threshold: float | None) -> Rows:
    for point in points:
        if (point.confidence < (threshold or 0.0)) == point.answerable:
            what = "refused" if point.answerable else "not refused"
            yield point.question, what, point.confidence
