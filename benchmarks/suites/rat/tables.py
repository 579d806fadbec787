"""Tables of the RAT benchmark."""

from collections.abc import Sequence

from pydantic import BaseModel, TypeAdapter

from planweave.benchmarks.core.metrics import (
    accuracy,
    by_part_and_method,
    group_by_method,
    rate,
    spread,
)
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cells, ReportTable, row_per_group
from planweave.benchmarks.suites.rat.code_eval import pass_at_k

MOST = 5
"""The largest k of pass@k, as in the paper."""


class Attempt(BaseModel):
    """The result of one attempt, as a record keeps it."""

    product: str | None = None
    right: bool
    reason: str = ""
    steps: int
    retrievals: int
    checked: int
    changed: int


_ATTEMPTS = TypeAdapter(list[Attempt])


def rat_tables(records: Sequence[Record]) -> list[ReportTable]:
    """All tables of the suite."""
    groups = group_by_method(records)
    return [
        _scores(groups),
        _pass_at_k(groups),
        retrieval_table(groups),
        seconds_table(by_part_and_method(groups)),
    ]


def _attempts(record: Record) -> list[Attempt]:
    return _ATTEMPTS.validate_python(record.score.details.get("attempts", []))


@row_per_group(
    by_part_and_method,
    "Score by data set",
    "scenario | method | right",
    note="Programs: all tests pass (pass@1). Word problems: the program gives the published "
    "number. Plans: every step up to the goal can be carried out, and the goal is then at hand "
    "(executability). These figures depend on the language model.",
)
def _scores(own: Sequence[Record]) -> Cells:
    return [accuracy(own)]


@row_per_group(
    by_part_and_method,
    "At least one of several attempts",
    "scenario | method | k | pass@k",
    note="Unbiased estimate (Chen et al. 2021, eq. 1).",
)
def _pass_at_k(own: Sequence[Record]) -> Cells:
    made = [_attempts(record) for record in own]
    k = min(MOST, min((len(attempts) for attempts in made if attempts), default=1))
    if k == 1:
        return ()
    right = [(len(attempts), sum(one.right for one in attempts)) for attempts in made]
    return k, rate([pass_at_k(*counts, k) if counts[0] else 0.0 for counts in right])


@row_per_group(
    by_part_and_method,
    "What retrieval did",
    "scenario | method | retrievals | steps drafted | steps changed | unreadable replies",
    note="Mean · median · 95th percentile of an attempt; shares are of the steps for which a "
    "text was found.",
)
def retrieval_table(own: Sequence[Record]) -> Cells:
    """The number of lookups, and how much they changed the drafts."""
    made = [attempt for record in own for attempt in _attempts(record)]
    checked = sum(attempt.checked for attempt in made)
    if not any(attempt.retrievals for attempt in made):
        return ()
    return (
        spread([attempt.retrievals for attempt in made]),
        spread([attempt.steps for attempt in made]),
        f"{sum(a.changed for a in made) / checked:.0%}" if checked else None,
        sum(len(record.failures) for record in own),
    )


@row_per_group(
    tuple,
    "Where the time of a question goes (table 8)",
    "scenario | method | generation | search, graph, grading | total",
    note="Mean · median · 95th percentile of seconds. Generation: the calls of the model. "
    "Nothing is crawled: texts are looked up in a collection, or are what a web search "
    "returns. The paper, for texts: CoT 3.59 in all; RAG-5 0.12 search, 5.17 crawling, 10.72 "
    "generation; RAT 0.47, 4.26, 12.75.",
)
def seconds_table(own: Sequence[Record]) -> Cells:
    """Seconds of generation and of everything else (table 8), by scenario and method."""
    written = [sum(call.record.seconds for call in record.calls) for record in own]
    # Parallel calls can take longer in total than the question.
    other = [max(0.0, one.seconds - seconds) for one, seconds in zip(own, written, strict=True)]
    return spread(written), spread(other), spread([record.seconds for record in own])
