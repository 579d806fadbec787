"""Refusal: from which share of unlinked words on a question is said to have no answer here.

The threshold is calibrated by split conformal prediction (Vovk et al. 2005; Papadopoulos et al.
2002): the score of a question is the share of its words that nothing in the database corresponds
to, and the threshold is the ``ceil((n + 1) (1 - a))``-th smallest score of ``n`` answerable
questions. So of new answerable questions of the same kind a share of at most ``a`` is refused,
whatever the distribution of the scores. How many of the others are refused is measured. No model is
asked.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from planweave.benchmarks.core.metrics import Rate, rate
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.core.table import Rows, Table, tabled
from planweave.benchmarks.suites.query_writing.question import Question
from planweave.tools.connect import open_database


class Scored(NamedTuple):
    """A question, whether it has an answer, and the words that nothing corresponds to."""

    name: str
    answerable: bool
    share: float
    words: tuple[str, ...]


class Calibration(NamedTuple):
    """A threshold from one half of the questions and what it refuses of the other.

    Attributes:
        threshold: Questions with a greater share are refused; None if there were too few.
        calibrated_on: Answerable questions of the first half.
        lost: Share of the answerable ones of the other half that are refused.
        refused: Share of the unanswerable ones of the other half that are refused.
    """

    threshold: float | None
    calibrated_on: int
    lost: Rate | None
    refused: Rate | None


def scored(questions: Iterable[Question]) -> list[Scored]:
    """The share of unlinked words of every question."""
    found = []
    for question in questions:
        database = open_database(question.source)
        explained = f"{question.instructions} {question.notes}"
        seen = database.unlinked(question.question, explained)
        found.append(Scored(question.id, question.answerable, seen.share, seen.words))
    return found


def threshold(shares: Sequence[float], target: float) -> float | None:
    """The share that at most ``target`` of new answerable questions exceed; None if too few."""
    place = math.ceil((len(shares) + 1) * (1 - target))
    return sorted(shares)[place - 1] if place <= len(shares) else None


def calibrate(questions: Sequence[Scored], *, target: float, seed: int) -> Calibration:
    """Find the threshold on a random half, and measure it on the other."""
    shuffled = drawn(questions, None, seed, lambda one: one.name)
    middle = len(shuffled) // 2
    shares = [one.share for one in shuffled[:middle] if one.answerable]
    found = threshold(shares, target)
    if found is None:
        return Calibration(None, len(shares), None, None)
    others = shuffled[middle:]
    return Calibration(found, len(shares), *(_refused(others, found, a) for a in (True, False)))


def _refused(questions: Sequence[Scored], above: float, answerable: bool) -> Rate | None:
    return rate([one.share > above for one in questions if one.answerable == answerable])


def tables(questions: Sequence[Scored], found: Calibration, target: float) -> list[Table]:
    """The calibration, what every threshold would refuse, and the questions that it errs on."""
    calibrated = Table(
        title="Calibrated threshold",
        columns=("threshold", "calibrated on", "unanswerable refused", "answerable refused"),
        rows=[(found.threshold, found.calibrated_on, found.refused, found.lost)],
        note=f"The share of unlinked words that at most {target:.0%} of new answerable "
        "questions exceed (split conformal prediction), found on the answerable questions of a "
        "random half; both shares are those of the other half. Questions above the threshold "
        "are refused.",
    )
    return [calibrated, _curve(questions), _errors(questions, found.threshold)]


@tabled(
    "What each threshold refuses, all questions",
    "threshold | unanswerable refused | answerable refused",
)
def _curve(questions: Sequence[Scored]) -> Rows:
    for step in sorted({0.0, *(round(one.share, 3) for one in questions)}):
        yield step, *(_refused(questions, step + 5e-4, answerable) for answerable in (False, True))


@tabled("Errors at the threshold", "question | is | unlinked")
def _errors(questions: Sequence[Scored], threshold: float | None) -> Rows:
    above = 1.0 if threshold is None else threshold
    for one in questions:
        if (one.share > above) == one.answerable:
            what = "refused" if one.answerable else "not refused"
            yield one.name, what, ", ".join(one.words) or None
