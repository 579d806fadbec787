"""The tables of the rules suite, made from records alone."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from planweave.benchmarks.core.metrics import accuracy, grouped, rate
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cell, Table

Groups = Mapping[str, Sequence[Record]]


class _Details(BaseModel):
    """What the score of an answer keeps."""

    domain: str
    level: int
    gold: str
    doubts: list[str]
    parts: dict[str, bool]


def rules_tables(records: Sequence[Record]) -> list[Table]:
    """All tables; those without a row are left out by the report."""
    groups = grouped(records)
    return [_levels(groups), _doubts(groups), _parts(groups), _problems(groups)]


def _details(record: Record) -> _Details:
    return _Details.model_validate(record.score.details)


def _levels(groups: Groups) -> Table:
    every = [_details(record) for own in groups.values() for record in own]
    kinds = sorted({(one.domain, one.level) for one in every})
    rows: list[tuple[Cell, ...]] = []
    for domain, level in kinds:
        cells = [
            accuracy([r for r in own if (_details(r).domain, _details(r).level) == (domain, level)])
            for own in groups.values()
        ]
        rows.append((domain, level, *cells))
    return Table(
        title="Right answers, by domain and level",
        columns=("domain", "level", *groups),
        rows=rows,
        note="Fees to a cent, taxes to a dollar; where the printed form gives another tax than the "
        "reference, either is right. Of the league: the violation, the operation and the team.",
    )


def _doubts(groups: Groups) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, own in groups.items():
        sure = [record for record in own if not _details(record).doubts]
        if len(sure) < len(own):
            rows.append((label, accuracy(sure), accuracy([r for r in own if _details(r).doubts])))
    return Table(
        title="Problems with and without known flaws",
        columns=("method", "without", "with"),
        rows=rows,
        note="A flaw: the reference differs there from what the printed rules say.",
    )


def _parts(groups: Groups) -> Table:
    names = ("violation", "operation", "team")
    rows: list[tuple[Cell, ...]] = []
    for label, own in groups.items():
        league = [record for record in own if _details(record).domain == "nba"]
        found = [_details(record).parts for record in league]
        shares = [rate([float(parts[name]) for parts in found if name in parts]) for name in names]
        if league:
            rows.append((label, sum(not parts for parts in found), *shares))
    return Table(
        title="Parts of the answers about the league",
        columns=("method", "no answer", *names),
        rows=rows,
        note="Operation and team: of the violations that were seen as such.",
    )


def _problems(groups: Groups) -> Table:
    first = {record.question: record for own in groups.values() for record in own}
    rows: list[tuple[Cell, ...]] = []
    for name, record in sorted(first.items()):
        cells = [
            ", ".join(_shown(r) for r in own if r.question == name) or None
            for own in groups.values()
        ]
        rows.append((name, _details(record).gold, *cells))
    return Table(title="Each problem", columns=("problem", "right answer", *groups), rows=rows)


def _shown(record: Record) -> str:
    if record.error:
        return "crashed"
    return "right" if record.score.value == 1 else record.score.answer or "no answer"
