"""Metrics over scores: estimates with intervals, spreads of costs, paired tests."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, sqrt
from statistics import fmean, median
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from planweave.benchmarks.core.record import Record
from planweave.graphs import METHODS
from planweave.models import CallRecord

Item = TypeVar("Item")
Part = TypeVar("Part", bound=Hashable)

_Z = 1.959963984540054
"""Quantile of the normal distribution for a 95 % interval."""
_LEVEL = (0.025, 0.975)
_BLOCK_NUMBERS = 1_000_000  # numbers that a bootstrap keeps in memory
Means: TypeAlias = NDArray[np.float64]
"""The mean of a column in the sample itself, then in each draw of questions."""
Groups: TypeAlias = Mapping[str, Sequence[Record]]
"""Records by method; see :func:`group_by_method`."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval."""

    value: float
    error: float  # standard error, clustered: runs on one question are not independent
    low: float
    high: float
    n: int  # number of scores
    clusters: int  # number of questions that they belong to

    def __str__(self) -> str:
        """As a share: ``40.0% [21-63] (20)``."""
        return f"{self.value:.1%} [{self.low * 100:.0f}-{self.high * 100:.0f}] ({self.n})"

    def __format__(self, form: str) -> str:
        """With each number in this format, such as ``0.400 [0.210, 0.630]``."""
        if not form:
            return str(self)
        return f"{self.value:{form}} [{self.low:{form}}, {self.high:{form}}]"


@dataclass(frozen=True)
class Spread:
    """Mean, median and 95th percentile of a quantity, over ``n`` samples."""

    mean: float
    median: float
    p95: float
    n: int


class Paired(NamedTuple):
    """Two methods on the same questions (exact sign test)."""

    n: int
    first: int
    second: int
    p: float  # two-sided probability of a split at least this uneven if both were equally good


def rate(values: Sequence[float], clusters: Sequence[str] = ()) -> Estimate | None:
    """Mean of scores from 0 to 1, clustered standard error, Wilson interval; None without scores.

    Wilson's interval uses the number of independent scores that would give the clustered error:
    at most the scores, at least the clusters. ``clusters`` names the question of each score;
    without it, each score is its own cluster.
    """
    if not values:
        return None
    n, mean = len(values), fmean(values)
    sums: dict[str, float] = {}
    for value, cluster in zip(values, clusters or map(str, range(n)), strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + value - mean
    error = sqrt(sum(deviation**2 for deviation in sums.values())) / n
    independent = mean * (1 - mean) / error**2 if error else float(len(sums))
    low, high = wilson(mean, min(float(n), max(float(len(sums)), independent)))
    return Estimate(mean, error, low, high, n, len(sums))


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share among ``n`` independent trials."""
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def spread(values: Sequence[float]) -> Spread | None:
    """Mean, median and 95th percentile (linear between ranks); None without values."""
    if not values:
        return None
    middle, high = float(median(values)), float(np.percentile(values, 95))
    return Spread(fmean(values), middle, high, len(values))


def bootstrap(
    rows: Sequence[Sequence[float]],
    figures: Callable[..., Sequence[Means]] = lambda *means: means,
    *,
    clusters: Sequence[str] = (),
    seed: int = 1,
    draws: int = 10_000,
) -> list[Estimate]:
    """Estimate figures with 95 % bootstrap intervals over questions.

    ``figures`` computes them from the mean of each column; by default, they are these means.
    ``clusters`` names the question of each row; rows of one question are drawn together.
    """
    names = [*(clusters or map(str, range(len(rows))))]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    sums = np.zeros((len(places), 1 + len(rows[0])))
    for name, row in zip(names, rows, strict=True):
        sums[places[name]] += (1, *row)
    drawn = np.random.default_rng(seed).integers(len(places), size=(draws, len(places)))
    size = max(1, _BLOCK_NUMBERS // sums.size)
    blocks = (drawn[at : at + size] for at in range(0, draws, size))
    summed = [sums.sum(axis=0), *(sums[block].sum(axis=1) for block in blocks)]
    counts, *totals = np.vstack(summed).T
    made = []
    for found in figures(*(total / counts for total in totals)):
        about = (found[0], found[1:].std(), *np.quantile(found[1:], _LEVEL))
        value, error, low, high = map(float, about)
        made.append(Estimate(value, error, low, high, len(rows), len(places)))
    return made


def longest_chain(calls: Sequence[CallRecord]) -> int:
    """The number of calls in sequence if all that may run at once does.

    The steps of a graph run in sequence; in each step, the task with the most calls counts.
    """
    tasks = Counter((call.stage, call.task) for call in calls)
    longest: dict[int | str, int] = {}
    for (stage, _), number in tasks.items():
        longest[stage] = max(number, longest.get(stage, 0))
    return sum(longest.values())


def rate_of(records: Sequence[Record], value: Callable[[Record], float]) -> Estimate | None:
    """Rate of a value between 0 and 1 of each record, clustered by question."""
    return rate([value(r) for r in records], [r.question for r in records])


def accuracy(records: Sequence[Record]) -> Estimate | None:
    """Rate of right answers, clustered by question; a crashed run is a wrong answer."""
    return rate_of(records, lambda record: record.score.value)


def sign_test(first: Mapping[str, float], second: Mapping[str, float]) -> Paired:
    """Exact two-sided sign test over common keys; for right and wrong, it is McNemar's test."""
    both = first.keys() & second.keys()
    b = sum(first[key] > second[key] for key in both)
    c = sum(second[key] > first[key] for key in both)
    tail = sum(comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)
    return Paired(len(both), b, c, min(1.0, 2 * tail))


def sign_tests(groups: Groups) -> dict[tuple[str, str], Paired]:
    """Sign tests of every pair of groups on their common questions and databases."""
    scores = {
        label: {f"{r.question}/{r.database}": r.score.value for r in records}
        for label, records in groups.items()
    }
    return {(a, b): sign_test(scores[a], scores[b]) for a, b in combinations(groups, 2)}


def group_by_method(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Group records by method, in the order of the paper's tables, simplest first.

    If a method ran with several models or settings, the label names them.
    """
    models = {record.model for record in records}
    changed = _varied_settings(records)

    def label(record: Record) -> str:
        parts = [record.method, *([record.model] if len(models) > 1 else [])]
        return " ".join([*parts, *(f"{name}={record.settings.get(name)}" for name in changed)])

    order = {name: -place for place, name in enumerate(METHODS.names())}
    ordered = sorted(records, key=lambda record: (order.get(record.method, 1), record.method))
    return group_by(ordered, label)


def group_by(items: Iterable[Item], part: Callable[[Item], Part]) -> dict[Part, list[Item]]:
    """Group items by part, in their order."""
    found: dict[Part, list[Item]] = {}
    for item in items:
        found.setdefault(part(item), []).append(item)
    return found


def _scenario(record: Record) -> str:
    return record.scenario


def by_part_and_method(
    groups: Groups, part: Callable[[Record], str] = _scenario, *, reverse: bool = False
) -> Iterator[tuple[str, str, list[Record]]]:
    """Part, method and records, for each part in order and each method with records of it."""
    for name in sorted({part(r) for own in groups.values() for r in own}, reverse=reverse):
        for label, own in groups.items():
            if some := [record for record in own if part(record) == name]:
                yield name, label, some


def _varied_settings(records: Sequence[Record]) -> list[str]:
    """The settings that differ between runs of one method."""
    names = dict.fromkeys(name for record in records for name in record.settings)
    seen = {(name, r.method, str(r.settings.get(name))) for name in names for r in records}
    values = Counter((name, method) for name, method, _ in seen)
    return [name for name in names if any(values[name, r.method] > 1 for r in records)]
