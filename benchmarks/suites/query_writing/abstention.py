"""Abstention: coverage and error of the answers above a confidence threshold.

The threshold is calibrated on one half of the questions and measured on the other. The method is
fixed-sequence testing of Learn Then Test (Angelopoulos, Bates, Candès, Jordan and Lei 2021,
arXiv:2110.01052) with the exact binomial limit that Geifman and El-Yaniv use for selective
prediction (2017, arXiv:1705.08500).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, lgamma, log, log1p
from typing import NamedTuple, TypeAlias

from planweave.benchmarks.core.metrics import Estimate, rate
from planweave.benchmarks.core.picture import Figure
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.core.table import Cell, ReportTable, Rows, table_of_rows

_HALVINGS = 60
_STEPS = 10


@dataclass(frozen=True, kw_only=True)
class ConfidencePoint:
    """The measurement of one question."""

    question: str
    confidence: float  # of the method in its answer, from 0 to 1
    answerable: bool
    answered: bool  # not for a refusal or a failed query
    right: bool


Groups: TypeAlias = Mapping[str, Sequence[ConfidencePoint]]
"""The points of each method."""


@dataclass(frozen=True, kw_only=True)
class ThresholdResult:
    """The effect of a threshold on some questions."""

    threshold: float  # the least confidence of a given answer
    given: int
    wrong: int  # any answer to an unanswerable question is wrong
    coverage: Estimate | None  # share of the answerable questions that are answered
    error: Estimate | None  # share of the given answers that are wrong
    refused: Estimate | None  # share of the unanswerable questions that are not answered

    def limit(self, confidence: float) -> float:
        """The upper confidence limit of the error."""
        return upper_limit(self.wrong, self.given, confidence)


def confidence_points(records: Sequence[Record]) -> list[ConfidencePoint]:
    """The points of records that have a confidence or no answer.

    A refusal or failure is no answer at any threshold.
    """
    found = []
    for record in records:
        details = record.score.details
        confidence = details.get("confidence")
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


def split_halves(
    points: Sequence[ConfidencePoint], seed: int
) -> tuple[list[ConfidencePoint], list[ConfidencePoint]]:
    """Split points randomly into a half for calibration and a half for measurement."""
    shuffled = drawn(points, None, seed, lambda point: point.question)
    middle = len(shuffled) // 2
    return shuffled[:middle], shuffled[middle:]


def measure_threshold(points: Sequence[ConfidencePoint], threshold: float) -> ThresholdResult:
    """Measure the effect of a threshold on these questions."""

    def is_given(point: ConfidencePoint) -> bool:
        return point.answered and point.confidence >= threshold

    wrong = [not point.right for point in points if is_given(point)]
    return ThresholdResult(
        threshold=threshold,
        given=len(wrong),
        wrong=sum(wrong),
        coverage=rate([is_given(point) for point in points if point.answerable]),
        error=rate(wrong),
        refused=rate([not is_given(point) for point in points if not point.answerable]),
    )


def curve(points: Sequence[ConfidencePoint]) -> list[ThresholdResult]:
    """The result of every confidence as threshold, the highest first."""
    confidences = {point.confidence for point in points if point.answered}
    return [
        measure_threshold(points, confidence) for confidence in sorted(confidences, reverse=True)
    ]


def upper_limit(wrong: int, given: int, confidence: float = 0.95) -> float:
    """The exact one-sided upper limit of a share (Clopper and Pearson 1934).

    It is the largest share at which ``wrong`` or fewer of ``given`` still have the probability
    ``1 - confidence``; 1 if no answer is given.
    """
    if wrong >= given:
        return 1.0
    low, high = wrong / given, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        low, high = (
            (share, high)
            if _probability_at_most(wrong, given, share) > 1 - confidence
            else (low, share)
        )
    return high


def _probability_at_most(wrong: int, given: int, share: float) -> float:
    """The binomial probability of at most ``wrong``, by logarithms since counts are large."""
    right, every, whole = log1p(-share), lgamma(given + 1), log(share)
    return fsum(
        exp(every - lgamma(k + 1) - lgamma(given - k + 1) + k * whole + (given - k) * right)
        for k in range(wrong + 1)
    )


def find_threshold(
    points: Sequence[ConfidencePoint], target: float = 0.1, confidence: float = 0.95, spare: int = 1
) -> float | None:
    """The smallest threshold at which the error of the given answers is at most ``target``, if any.

    Thresholds are tried from the highest confidence down, on questions that serve no other purpose.
    The first threshold gives just enough answers to pass with ``spare`` wrong ones, whichever these
    are. A larger ``spare`` makes a high coverage likelier, but needs more questions. A threshold
    passes if the upper limit of the error is at most ``target``; the result is the last one before
    the first failure. Since the order is fixed beforehand and the first failure ends the search, no
    correction for multiple tests is needed: for new questions of the same kind, the error exceeds
    the target with a probability of at most ``1 - confidence``.
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
    """A threshold found on one half of the questions and measured on the other."""

    threshold: float | None  # None if no threshold meets the target
    calibrated_on: int  # number of questions in the first half
    measured: ThresholdResult | None  # on the second half


def calibrate(
    points: Sequence[ConfidencePoint],
    find: Callable[[Sequence[ConfidencePoint]], float | None],
    seed: int,
) -> Calibration:
    """Find a threshold on a random half, and measure it on the other."""
    first, second = split_halves(points, seed)
    found = find(first)
    measured = None if found is None else measure_threshold(second, found)
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
    """About ten points of each method's curve, the fewest answers first."""
    for name, points in groups.items():
        steps = curve(points)
        shown = sorted({round(at * (len(steps) - 1) / _STEPS) for at in range(_STEPS + 1)})
        for step in [steps[at] for at in shown] if steps else []:
            shares = (step.coverage, step.error, step.refused)
            yield name, round(step.threshold, 3), step.given, step.wrong, *shares


def calibration_table(
    found: Mapping[str, Calibration], meaning: str, confidence: float = 0.95
) -> ReportTable:
    """The threshold of each method and its result; ``meaning`` explains the threshold."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in found.items():
        there = one.measured
        shares = (there.coverage, there.error) if there else (None, None)
        limit = f"{there.limit(confidence):.1%}" if there else None
        refused = there.refused if there else None
        rows.append((name, one.threshold, one.calibrated_on, *shares, limit, refused))
    return ReportTable(
        title="Calibrated threshold",
        columns=(
            *("method", "threshold", "calibrated on", "coverage", "error"),
            *("upper limit of the error", "refused"),
        ),
        rows=rows,
        note=f"{meaning}, found on a random half of the questions; coverage, error (upper limit "
        f"with {confidence:.0%} confidence) and refusals are those of the other half. None: no "
        "threshold holds the target on so many questions.",
    )


def draw_curves(
    groups: Groups, found: Mapping[str, Calibration], target: float, figure: Figure
) -> None:
    """Draw error against coverage, a line for each method, and mark its threshold."""
    figure.set_size_inches(6.4, 4.2)
    axis = figure.subplots()
    for number, (name, points) in enumerate(groups.items()):
        places = [place for step in curve(points) if (place := _curve_point(step))]
        if not places:
            continue
        axis.plot(*zip(*places, strict=True), color=f"C{number}", label=name)
        measured = found[name].measured if name in found else None
        if measured and (place := _curve_point(measured)):
            label = f"{name}: other half, threshold {measured.threshold:.2f}"
            axis.plot(*place, "o", color=f"C{number}", label=label)
    axis.axhline(target, linestyle="--", color="grey", label=f"target {target:.0%}")
    axis.set_xlabel("coverage: share of the answerable questions that are answered")
    axis.set_ylabel("error: share of the answers that are wrong")
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)
    axis.legend(fontsize=8)


def _curve_point(step: ThresholdResult) -> tuple[float, float] | None:
    return (step.coverage.value, step.error.value) if step.coverage and step.error else None
