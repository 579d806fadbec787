"""The tables of the rules suite, made from records."""

from collections.abc import Sequence

from pydantic import BaseModel

from planweave.benchmarks.core.metrics import accuracy, group_by_method, rate
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cells, ReportTable, row_per_method, table_by_part


class _Details(BaseModel):
    domain: str
    level: int
    gold: str
    doubts: list[str]
    parts: dict[str, bool]


def rules_tables(records: Sequence[Record]) -> list[ReportTable]:
    """All tables; the report skips those without rows."""
    groups = group_by_method(records)
    return [_levels(groups), _doubts(groups), _parts(groups), _problems(groups)]


def _details(record: Record) -> _Details:
    return _Details.model_validate(record.score.details)


_levels = table_by_part(
    "Right answers, by domain and level",
    "domain | level",
    lambda record: (_details(record).domain, _details(record).level),
    accuracy,
    order=lambda part: part,
    note="Fees to a cent, taxes to a dollar; where the printed form gives another tax than the "
    "reference, either is right. Of the league: the violation, the operation and the team.",
)


@row_per_method(
    "Problems with and without known flaws",
    "method | without | with",
    note="A flaw: the reference differs there from what the printed rules say.",
)
def _doubts(own: Sequence[Record]) -> Cells:
    flawed = [record for record in own if _details(record).doubts]
    flawless = [record for record in own if not _details(record).doubts]
    return (accuracy(flawless), accuracy(flawed)) if flawed else ()


_PARTS = ("violation", "operation", "team")


@row_per_method(
    "Parts of the answers about the league",
    f"method | no answer | {' | '.join(_PARTS)}",
    note="Operation and team: of the violations that were seen as such.",
)
def _parts(own: Sequence[Record]) -> Cells:
    found = [one.parts for one in map(_details, own) if one.domain == "nba"]
    shares = [rate([parts[name] for parts in found if name in parts]) for name in _PARTS]
    return (sum(not parts for parts in found), *shares) if found else ()


def _outcome_text(record: Record) -> str:
    if record.error:
        return "crashed"
    return "right" if record.score.value == 1 else record.score.answer or "no answer"


_problems = table_by_part(
    "Each problem",
    "problem | right answer",
    lambda record: (record.question, _details(record).gold),
    lambda own: ", ".join(map(_outcome_text, own)) or None,
    order=lambda part: part,
)
