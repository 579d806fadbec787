"""The tables of the shop suite, made from records alone."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from planweave.benchmarks.core.metrics import Rate, accuracy, grouped, rate
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cell, Table

Verdict: TypeAlias = Literal["right", "vouched", "flagged", "undecided"]
"""Right; wrong yet confirmed; wrong and flagged; no decision, or a run that crashed."""

_VERDICTS: tuple[Verdict, ...] = ("right", "vouched", "flagged", "undecided")


def vouched_for(record: Record) -> bool:
    """Whether the run's own check says that its decision is supported.

    An answer with a verdict says it there. Else the check has left a claim for each sentence of the
    answer: all must be supported, and there must be one. This is read here and nowhere else.
    """
    checked = (record.answer or {}).get("verdict")
    if isinstance(checked, dict):
        return checked.get("kind") == "supported"
    return bool(record.claims) and all(bool(claim["supported"]) for claim in record.claims)


def verdict(record: Record) -> Verdict:
    """What a run came to."""
    result = record.score.details["result"]
    if record.error or result == "undecided":
        return "undecided"
    if result == "right":
        return "right"
    return "vouched" if vouched_for(record) else "flagged"


def shop_tables(records: Sequence[Record]) -> list[Table]:
    """All tables."""
    groups = grouped(records)
    return [
        _verdicts(groups),
        _shops(groups),
        _decisions(groups),
    ]


def _share(records: Sequence[Record], wanted: Verdict) -> Rate | None:
    return rate(
        [float(verdict(record) == wanted) for record in records],
        [record.question for record in records],
    )


def _verdicts(groups: Mapping[str, Sequence[Record]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, records in groups.items():
        unsure = sum(verdict(r) == "right" and not vouched_for(r) for r in records)
        shares = (_share(records, wanted) for wanted in _VERDICTS)
        rows.append((label, *shares, unsure))
    return Table(
        title="Decisions and what the check says of them",
        columns=(
            *("method", "right", "wrong, vouched for", "wrong, flagged", "undecided"),
            "right but flagged",
        ),
        rows=rows,
        note="Vouched for: the run's own check found every claim of the answer supported. "
        "Undecided: no decision, or the run crashed.",
    )


def _shops(groups: Mapping[str, Sequence[Record]]) -> Table:
    names = dict.fromkeys(r.scenario for records in groups.values() for r in records)
    rows: list[tuple[Cell, ...]] = [
        (name, *(accuracy([r for r in own if r.scenario == name]) for own in groups.values()))
        for name in names
    ]
    return Table(title="Right, by shop", columns=("shop", *groups), rows=rows)


def _decisions(groups: Mapping[str, Sequence[Record]]) -> Table:
    every = [r for records in groups.values() for r in records]
    names = dict.fromkeys(record.question for record in every)
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        cells = [
            ", ".join(verdict(r) for r in records if r.question == name) or None
            for records in groups.values()
        ]
        best = next(str(r.score.details["best"]) for r in every if r.question == name)
        rows.append((name, best, *cells))
    return Table(title="Each decision", columns=("question", "best", *groups), rows=rows)
