"""The tables of the RAG report: how far ways of rating answers agree with people."""

from collections.abc import Mapping, Sequence
from math import atanh, sqrt, tanh
from statistics import fmean
from typing import NamedTuple

from pydantic import BaseModel

from planweave.benchmarks.core.metrics import Rate, grouped, rate
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cell, Table
from planweave.benchmarks.suites.rag.ways import CRITERIA

_Z = 1.959963984540054
_FEWEST = 4
"""Pairs below which a correlation has no interval."""

_OTHER = "one annotator by the other"


class _Details(BaseModel):
    """What the score of a pair keeps."""

    people: dict[str, list[int]]
    difference: dict[str, float | None] | None


class Agreement(NamedTuple):
    """Measured differences beside people's.

    Attributes:
        sign: Same sign where people prefer one answer; no difference counts a half.
        ties: Such pairs in which no difference was measured.
        spearman: Rank correlation, undecided pairs included; None where it has no meaning.
        kendall: Kendall's tau-b, likewise.
        n: Pairs measured.
    """

    sign: Rate | None
    ties: int
    spearman: float | None
    kendall: float | None
    n: int


def agreement(measured: Sequence[float], people: Sequence[float]) -> Agreement:
    """Compare differences b - a with people's mean judgement, pair by pair."""
    decided = [(m, p) for m, p in zip(measured, people, strict=True) if p]
    signs = [0.5 if m == 0 else float(m * p > 0) for m, p in decided]
    spearman, kendall = _correlations(measured, people)
    ties = sum(m == 0 for m, _ in decided)
    return Agreement(rate(signs), ties, spearman, kendall, len(measured))


def _correlations(
    first: Sequence[float], second: Sequence[float]
) -> tuple[float | None, float | None]:
    if len(first) < _FEWEST or len(set(first)) < 2 or len(set(second)) < 2:
        return None, None
    try:
        from scipy.stats import kendalltau, spearmanr
    except ImportError:
        return None, None
    ranked = float(spearmanr(first, second).statistic)
    return ranked, float(kendalltau(first, second).statistic)


def interval(spearman: float, n: int) -> tuple[float, float]:
    """95 % interval of a rank correlation (Bonett and Wright 2000)."""
    if abs(spearman) >= 1:
        return spearman, spearman
    half = _Z * sqrt((1 + spearman**2 / 2) / (n - 3))
    return tanh(atanh(spearman) - half), tanh(atanh(spearman) + half)


def agreement_tables(records: Sequence[Record]) -> list[Table]:
    """Every table of the report that is about agreement."""
    groups = grouped(records)
    asked = {record.question for record in records}
    common = asked.intersection(*({r.question for r in own} for own in groups.values()))
    same = {label: [r for r in own if r.question in common] for label, own in groups.items()}
    tables = [_agreement_table("Agreement with people", groups, records)]
    if common and same != groups:
        title = "Agreement with people on the pairs that every method rated"
        tables.append(_agreement_table(title, same, [r for own in same.values() for r in own]))
    return [*tables, _unmeasured(groups)]


def _agreement_table(
    title: str, groups: Mapping[str, Sequence[Record]], records: Sequence[Record]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for criterion in CRITERIA:
        for label, own in groups.items():
            known = _known(own, criterion)
            found = agreement([m for m, _ in known], [p for _, p in known])
            rows.append((criterion, label, *_cells(found), len(own) - len(known)))
        rows.append((criterion, _OTHER, *_cells(_between_people(records, criterion)), None))
    return Table(
        title=title,
        columns=(
            *("criterion", "method", "same sign as people", "ties", "Spearman", "Kendall"),
            *("pairs", "unmeasured"),
        ),
        rows=rows,
        note="The difference b - a that a method measures, beside the mean of the annotators. Same "
        "sign: on the pairs in which people prefer one answer, with the 95 % interval (Wilson) and "
        "their number; a tie of the method counts a half. Spearman (95 % interval of Bonett and "
        "Wright) and Kendall's tau-b are over all measured pairs, people's ties included. "
        "Unmeasured pairs are in no other column. In the agreement over all questions, above, a "
        "pair counts a half also where people prefer neither answer, and 0 where it is unmeasured. "
        "One annotator by the other takes the first for the people, a noisier truth than the mean.",
    )


def _cells(found: Agreement) -> tuple[Cell, ...]:
    spearman = None
    if found.spearman is not None:
        low, high = interval(found.spearman, found.n)
        spearman = f"{found.spearman:.2f} [{low:.2f} to {high:.2f}]"
    kendall = None if found.kendall is None else f"{found.kendall:.2f}"
    return found.sign, found.ties, spearman, kendall, found.n


def _known(records: Sequence[Record], criterion: str) -> list[tuple[float, float]]:
    """Measured difference and people's mean of the pairs that were measured."""
    known = []
    for record in records:
        details = _Details.model_validate(record.score.details)
        measured = (details.difference or {}).get(criterion)
        if measured is not None:
            known.append((measured, fmean(details.people[criterion])))
    return known


def _between_people(records: Sequence[Record], criterion: str) -> Agreement:
    """The second annotator by the first, on every pair that has two."""
    each = {record.question: record for record in records}.values()
    given = [_Details.model_validate(r.score.details).people[criterion] for r in each]
    both = [opinions for opinions in given if len(opinions) > 1]
    return agreement(
        [float(second) for _, second, *_ in both], [float(first) for first, *_ in both]
    )


def _unmeasured(groups: Mapping[str, Sequence[Record]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, records in groups.items():
        found = [_Details.model_validate(r.score.details).difference or {} for r in records]
        asked, missing = (
            sum(int(one.get(name) or 0) for one in found) for name in ("statements", "unjudged")
        )
        unread = sum(len(record.failures) for record in records)
        unmeasured = sum(one.get("overall") is None for one in found)
        rows.append((label, len(records), unmeasured, asked, missing, unread))
    return Table(
        title="What was not measured",
        columns=(
            *("method", "pairs", "unmeasured pairs", "verdicts asked for", "verdicts not given"),
            "unreadable replies",
        ),
        rows=[row for row in rows if any(row[2:])],
        note="A pair is unmeasured if a passage's statements could not be read, or none got a "
        "verdict. Single statements without a verdict are left out of their share.",
    )
