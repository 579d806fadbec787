"""Refusal: below which chance that the database can answer is a question said to have no answer?

A model is asked in one word whether the tables can answer, and how likely it says yes is the score
of a question. The threshold is calibrated by split conformal prediction (Vovk et al. 2005;
Papadopoulos et al. 2002): it is the ``floor((n + 1) a)``-th smallest score of ``n`` answerable
questions. So of new answerable questions of the same kind a share of at most ``a`` is refused,
whatever the distribution of the scores. How many of the others are refused is measured.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from planweave.benchmarks.core.metrics import Estimate, rate
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.core.table import ReportTable, Rows, table_of_rows
from planweave.benchmarks.suites.query_writing.question import QueryQuestion, need_of
from planweave.memory import Context
from planweave.models import achat_model, chance_of_yes
from planweave.nodes.assist.query_writer import ground_of, notes_of, unknown_in
from planweave.nodes.assist.yes_or_no import answerable_prompt
from planweave.tools.connect import open_database


class Scored(NamedTuple):
    """A question, whether it has an answer, and the chance that the model gives it of one."""

    name: str
    answerable: bool
    chance: float


class Calibration(NamedTuple):
    """A threshold from one half of the questions and what it refuses of the other."""

    threshold: float | None  # questions with a smaller chance are refused; None if too few
    calibrated_on: int  # answerable questions of the first half
    lost: Estimate | None  # share of the answerable ones of the other half that are refused
    refused: Estimate | None  # share of the unanswerable ones of the other half that are refused


async def scored(
    questions: Sequence[QueryQuestion], model: str, on_question: Callable[[], None]
) -> list[Scored]:
    """The chance that ``model`` gives every question, those of one database together.

    A question for what the database has no word for is refused unasked: its chance is 0.
    """
    context, found = Context(model=model), []
    tokens = context.reply_tokens
    asked = await achat_model(model, temperature=0.0, max_tokens=tokens)
    adapted = await achat_model(model, temperature=0.0, max_tokens=tokens, adapter=True)
    for question in sorted(questions, key=lambda one: str(one.source)):
        need = need_of(question)
        database = await asyncio.to_thread(open_database, question.source)
        ground = await asyncio.to_thread(ground_of, need, database, context.schema_characters * 2)
        chance = 0.0
        if not await asyncio.to_thread(unknown_in, need, database):
            prompt = answerable_prompt(ground, need.question, notes_of(need))
            other = adapted if database.kind == "relational" else None
            word = await chance_of_yes(asked, prompt, adapted=other, role="query_writer")
            chance = word.yes
        found.append(Scored(question.id, question.answerable, chance))
        on_question()
    return found


def threshold(chances: Sequence[float], target: float) -> float | None:
    """The chance that at most ``target`` of new answerable questions are below; None if too few."""
    place = math.floor((len(chances) + 1) * target + 1e-9)
    return sorted(chances)[place - 1] if place else None


def calibrate(questions: Sequence[Scored], *, target: float, seed: int) -> Calibration:
    """Find the threshold on a random half, and measure it on the other."""
    shuffled = drawn(questions, None, seed, lambda one: one.name)
    middle = len(shuffled) // 2
    chances = [one.chance for one in shuffled[:middle] if one.answerable]
    found = threshold(chances, target)
    if found is None:
        return Calibration(None, len(chances), None, None)
    others = shuffled[middle:]
    return Calibration(found, len(chances), *(_refused(others, found, a) for a in (True, False)))


def _refused(questions: Sequence[Scored], below: float, answerable: bool) -> Estimate | None:
    return rate([one.chance < below for one in questions if one.answerable == answerable])


def tables(questions: Sequence[Scored], found: Calibration, target: float) -> list[ReportTable]:
    """The calibration, what every threshold would refuse, and the questions that it errs on."""
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
def _curve(questions: Sequence[Scored]) -> Rows:
    for step in range(10, 20):
        below = step / 20
        yield below, *(_refused(questions, below, answerable) for answerable in (False, True))


@table_of_rows("Errors at the threshold", "question | is | chance of an answer")
def _errors(questions: Sequence[Scored], threshold: float | None) -> Rows:
    for one in questions:
        if (one.chance < (threshold or 0.0)) == one.answerable:
            what = "refused" if one.answerable else "not refused"
            yield one.name, what, one.chance
