"""Abstention: how many questions are answered above a confidence, and how many answers are wrong.

The threshold is calibrated on one part of the questions and measured on the other. It is found by
fixed-sequence testing of Learn Then Test (Angelopoulos, Bates, Candès, Jordan and Lei 2021,
arXiv:2110.01052) with the exact binomial limit that Geifman and El-Yaniv use for selective
prediction (2017, arXiv:1705.08500).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, lgamma, log, log1p
from typing import Literal, NamedTuple, TypeAlias

from planweave.benchmarks.core.metrics import Estimate, rate
from planweave.benchmarks.core.picture import Figure
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.core.table import Cell, ReportTable, Rows, table_of_rows

_HALVINGS = 60
_STEPS = 10


By: TypeAlias = Literal["agreement", "word"]
"""What is the confidence: the agreement of the candidates, or the model's word on their rows."""


@dataclass(frozen=True, kw_only=True)
class ConfidencePoint:
    """One question of a measurement."""

    question: str
    confidence: float  # what the method gave its answer, from 0 to 1
    answerable: bool
    answered: bool  # whether the method gave one at all; a refusal or a query that fails is none
    right: bool


Groups: TypeAlias = Mapping[str, Sequence[ConfidencePoint]]
"""The points of each method."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What answering from a threshold on would mean for some questions."""

    threshold: float  # answers of this confidence or more are given
    given: int
    wrong: int  # an answer to a question that has none is wrong
    coverage: Estimate | None  # share of the answerable questions that are answered
    error: Estimate | None  # share of the answers given that are wrong
    refused: Estimate | None  # share of the other questions that are not answered

    def limit(self, confidence: float) -> float:
        """The upper confidence limit of the error."""
        return upper_limit(self.wrong, self.given, confidence)


def points_of(records: Sequence[Record], by: By = "agreement") -> list[ConfidencePoint]:
    """The questions whose record has a confidence, or was not answered.

    Records without a confidence are left out, unless the method refused or failed: that is no
    answer at any threshold. By the model's word on the rows, those about which it was not asked
    have a confidence of 1 if all candidates return them, else none.
    """
    found = []
    for record in records:
        details = record.score.details
        confidence = details.get("confidence")
        if by == "word" and confidence is not None:
            chance = details.get("chance")
            confidence = float(confidence == 1) if chance is None else chance
        given = details.get("result") in ("right", "wrong", "answered", "empty")
        answered = given and not record.error
        if answered and not isinstance(confidence, int | float):
            continue
        found.append(
            ConfidencePoint(
                question=record.question,
                confidence=float(confidence) if isinstance(confidence, int | float) else 0.0,
                answerable=bool(details.get("answerable", True)),
                answered=answered,
                right=details.get("result") == "right",
            )
        )
    return found


def halves(
    points: Sequence[ConfidencePoint], seed: int
) -> tuple[list[ConfidencePoint], list[ConfidencePoint]]:
    """Two random halves: one to calibrate on, one to measure on."""
    shuffled = drawn(points, None, seed, lambda point: point.question)
    middle = len(shuffled) // 2
    return shuffled[:middle], shuffled[middle:]


def standing(points: Sequence[ConfidencePoint], threshold: float) -> Standing:
    """What answering from ``threshold`` on means for these questions."""
    given = [point for point in points if point.answered and point.confidence >= threshold]
    names = {point.question for point in given}
    covered = [float(p.question in names) for p in points if p.answerable]
    refused = [float(p.question not in names) for p in points if not p.answerable]
    return Standing(
        threshold=threshold,
        given=len(given),
        wrong=sum(not point.right for point in given),
        coverage=rate(covered),
        error=rate([not point.right for point in given]),
        refused=rate(refused),
    )


def curve(points: Sequence[ConfidencePoint]) -> list[Standing]:
    """The standing at every confidence that was given, the highest first."""
    confidences = {point.confidence for point in points if point.answered}
    return [standing(points, confidence) for confidence in sorted(confidences, reverse=True)]


def upper_limit(wrong: int, given: int, confidence: float = 0.95) -> float:
    """The exact one-sided upper limit of a share (Clopper and Pearson 1934).

    It is the largest share at which ``wrong`` or fewer of ``given`` still have the probability
    ``1 - confidence``; 1 where nothing was given.
    """
    if wrong >= given:
        return 1.0
    low, high = wrong / given, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        low, high = (
            (share, high) if _at_most(wrong, given, share) > 1 - confidence else (low, share)
        )
    return high


def _at_most(wrong: int, given: int, share: float) -> float:
    """The probability of so many or fewer in so many trials, by logarithms as counts are large."""
    right, every, whole = log1p(-share), lgamma(given + 1), log(share)
    return fsum(
        exp(every - lgamma(k + 1) - lgamma(given - k + 1) + k * whole + (given - k) * right)
        for k in range(wrong + 1)
    )


def calibrated(
    points: Sequence[ConfidencePoint], target: float = 0.1, confidence: float = 0.95, spare: int = 1
) -> float | None:
    """The smallest threshold at which the error of the answers given is at most ``target``, if any.

    Thresholds are tried from the highest confidence down, on questions that are used for nothing
    else. The first is the one that lets as many answers through as are needed to pass with
    ``spare`` of them wrong; that does not depend on which are. More spare ones make a high coverage
    likelier and a small set of questions useless. Each passes while the upper limit of the error is
    at most ``target``; the last that passes before one fails is the threshold. As the order is
    fixed beforehand and the first failure ends it, no correction for trying several is needed: for
    new questions like these the error exceeds the target with a probability of at most ``1 -
    confidence``.
    """
    found = None
    for step in curve(points):
        if upper_limit(min(spare, step.given), step.given, confidence) > target:
            continue  # too few answers to show anything
        if step.limit(confidence) > target:
            break
        found = step.threshold
    return found


class Calibration(NamedTuple):
    """A threshold, found on one half of the questions and measured on the other."""

    threshold: float | None  # None if none holds the target
    calibrated_on: int  # questions of the first half
    measured: Standing | None  # on the second half


def calibrate(
    points: Sequence[ConfidencePoint], *, target: float, confidence: float, seed: int
) -> Calibration:
    """Find the threshold on a random half, and measure it on the other; see :func:`calibrated`."""
    first, second = halves(points, seed)
    found = calibrated(first, target, confidence)
    measured = None if found is None else standing(second, found)
    return Calibration(found, len(first), measured)


@table_of_rows(
    "Coverage against error",
    "method | threshold | answers | wrong | coverage | error | refused",
    note="Answers of this confidence or more are given. Coverage: share of the answerable "
    "questions that are answered. Error: share of the answers given that are wrong; any answer "
    "to a question that has none is. Refused: share of those questions that is not answered. "
    "In brackets: the 95 % interval (Wilson) and the number of questions.",
)
def curves_table(groups: Groups) -> Rows:
    """About ten steps of each method's curve, the fewest answers first."""
    for name, points in groups.items():
        steps = curve(points)
        shown = sorted({round(at * (len(steps) - 1) / _STEPS) for at in range(_STEPS + 1)})
        for step in [steps[at] for at in shown] if steps else []:
            shares = (step.coverage, step.error, step.refused)
            yield name, round(step.threshold, 3), step.given, step.wrong, *shares


def calibration_table(
    found: Mapping[str, Calibration], *, target: float, confidence: float
) -> ReportTable:
    """The threshold of each method and what it is worth."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        there = one.measured
        shares = (there.coverage, there.error) if there else (None, None)
        limit = f"{there.limit(confidence):.1%}" if there else None
        at = None if one.threshold is None else round(one.threshold, 3)
        refused = there.refused if there else None
        rows.append((name, at, one.calibrated_on, *shares, limit, refused))
    return ReportTable(
        title="Calibrated threshold",
        columns=(
            *("method", "threshold", "calibrated on", "coverage", "error"),
            *("upper limit of the error", "refused"),
        ),
        rows=rows,
        note=f"The smallest threshold at which the error is at most {target:.0%} with "
        f"{confidence:.0%} confidence, found on a random half of the questions (fixed-sequence "
        "testing with exact binomial limits); coverage, error and refusals are those of the other "
        "half. None: no threshold holds the target on so many questions.",
    )


def draw(groups: Groups, found: Mapping[str, Calibration], target: float, figure: Figure) -> None:
    """Coverage against error, a line for each method, and where its threshold lies."""
    figure.set_size_inches(6.4, 4.2)
    axis = figure.subplots()
    for number, (name, points) in enumerate(groups.items()):
        places = [place for step in curve(points) if (place := _place(step))]
        if not places:
            continue
        axis.plot(*zip(*places, strict=True), color=f"C{number}", label=name)
        measured = found[name].measured if name in found else None
        if measured and (place := _place(measured)):
            label = f"{name}: other half, threshold {measured.threshold:.2f}"
            axis.plot(*place, "o", color=f"C{number}", label=label)
    axis.axhline(target, linestyle="--", color="grey", label=f"target {target:.0%}")
    axis.set_xlabel("coverage: share of the answerable questions that are answered")
    axis.set_ylabel("error: share of the answers that are wrong")
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)
    axis.legend(fontsize=8)


def _place(step: Standing) -> tuple[float, float] | None:
    return (step.coverage.value, step.error.value) if step.coverage and step.error else None
