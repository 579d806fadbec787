"""The tables of the shop suite, made from records."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from planweave.benchmarks.core.metrics import accuracy, group_by_method, rate
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cells, ReportTable, row_per_method, table_by_part

DecisionGrade: TypeAlias = Literal["right", "vouched", "flagged", "undecided"]
"""Right; wrong yet confirmed; wrong and flagged; no decision, or a run that crashed."""

_VERDICTS: tuple[DecisionGrade, ...] = ("right", "vouched", "flagged", "undecided")


def is_vouched_for(record: Record) -> bool:
    """Whether the run's own check found its decision supported.

    The answer's verdict decides. Without one, there must be claims (one for each sentence of the
    answer), and all must be supported.
    """
    checked = (record.answer or {}).get("verdict")
    if isinstance(checked, dict):
        return checked.get("kind") == "supported"
    return bool(record.claims) and all(bool(claim["supported"]) for claim in record.claims)


def grade_run(record: Record) -> DecisionGrade:
    """Grade a run."""
    result = record.score.details["result"]
    if record.error or result == "undecided":
        return "undecided"
    if result == "right":
        return "right"
    return "vouched" if is_vouched_for(record) else "flagged"


def shop_tables(records: Sequence[Record]) -> list[ReportTable]:
    """All tables."""
    groups = group_by_method(records)
    return [_verdicts(groups), _shops(groups), _decisions(groups)]


_shops = table_by_part("Right, by shop", "shop", lambda record: (record.scenario,), accuracy)
_decisions = table_by_part(
    "Each decision",
    "question | best",
    lambda record: (record.question, str(record.score.details["best"])),
    lambda own: ", ".join(map(grade_run, own)) or None,
)


@row_per_method(
    "Decisions and what the check says of them",
    "method | right | wrong, vouched for | wrong, flagged | undecided | right but flagged",
    note="Vouched for: the run's own check found every claim of the answer supported. "
    "Undecided: no decision, or the run crashed.",
)
def _verdicts(records: Sequence[Record]) -> Cells:
    found, questions = [grade_run(r) for r in records], [r.question for r in records]
    shares = (rate([one == kind for one in found], questions) for kind in _VERDICTS)
    return *shares, sum(grade_run(r) == "right" and not is_vouched_for(r) for r in records)
