"""How well the check of decisions and sentences tells right from wrong: precision and recall."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from planweave.benchmarks.core.metrics import Rate, rate
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.check.pairs import Pair
from planweave.tools.checking import follow, judge

NAME = "check"


class Checked(NamedTuple):
    """A pair, whether the check passes it as supported, and why."""

    pair: Pair
    passed: bool
    reason: str

    @property
    def wrong(self) -> bool:
        """Whether the check and the label differ."""
        return self.passed != self.pair.supported


def checked(pairs: Iterable[Pair]) -> list[Checked]:
    """What the check says of each pair."""
    return [_checked(pair) for pair in pairs]


def _checked(pair: Pair) -> Checked:
    if pair.kind == "decision":
        found = follow(pair.text, pair.facts, question=pair.question, rules=pair.rules)
        return Checked(pair, found.kind == "supported", found.reason)
    judged = judge(pair.text, pair.facts, question=pair.question, rules=pair.rules)
    return Checked(pair, judged.truth is True, judged.reason)


def precision(found: Sequence[Checked]) -> Rate | None:
    """The share of what is passed that is right."""
    passed = [float(one.pair.supported) for one in found if one.passed]
    return rate(passed, [str(at) for at in range(len(passed))]) if passed else None


def recall(found: Sequence[Checked]) -> Rate | None:
    """The share of what is right that is passed."""
    right = [float(one.passed) for one in found if one.pair.supported]
    return rate(right, [str(at) for at in range(len(right))]) if right else None


def tables(found: Sequence[Checked]) -> list[Table]:
    """Precision and recall by kind, and what was passed case by case."""
    kinds = sorted({one.pair.kind for one in found})
    overall = Table(
        title="Check of decisions, sentences and rankings",
        columns=("kind", "pairs", "precision", "recall", "wrong ones passed"),
        rows=[
            (
                kind,
                len(own),
                precision(own),
                recall(own),
                sum(one.passed and not one.pair.supported for one in own),
            )
            for kind in kinds
            if (own := [one for one in found if one.pair.kind == kind])
        ],
        note="Precision: of what passes as supported, the share that is. Recall: of what is "
        "supported, the share that passes. 95 % intervals; each pair counts once.",
    )
    cases = sorted({(one.pair.kind, not one.pair.supported, one.pair.case) for one in found})
    by_case = Table(
        title="Case by case",
        columns=("kind", "case", "label", "pairs", "passed"),
        rows=[
            (
                kind,
                case,
                "not supported" if wrong else "supported",
                len(own),
                sum(one.passed for one in own),
            )
            for kind, wrong, case in cases
            if (
                own := [
                    one
                    for one in found
                    if (one.pair.kind, not one.pair.supported, one.pair.case) == (kind, wrong, case)
                ]
            )
        ],
    )
    return [overall, by_case]
