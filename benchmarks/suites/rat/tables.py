"""Tables of the RAT benchmark, from its records alone."""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel, TypeAdapter

from planweave.benchmarks.core.metrics import accuracy, grouped, rate, spread
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cell, Table
from planweave.benchmarks.suites.rat.code_eval import pass_at_k

MOST = 5
"""The largest k of pass@k, as in the paper."""


class _Attempt(BaseModel):
    """One attempt, as it stands in a record's details."""

    right: bool
    steps: int
    retrievals: int
    checked: int
    changed: int


_ATTEMPTS = TypeAdapter(list[_Attempt])


def rat_tables(records: Sequence[Record]) -> list[Table]:
    """All tables of the suite."""
    return [
        _scores(records),
        _several(records),
        retrieval_table(records),
        seconds_table(_cells(records)),
    ]


def _attempts(record: Record) -> list[_Attempt]:
    return _ATTEMPTS.validate_python(record.score.details.get("attempts", []))


def _cells(records: Sequence[Record]) -> Iterator[tuple[str, str, list[Record]]]:
    """Records by data set and method."""
    for scenario in dict.fromkeys(sorted(record.scenario for record in records)):
        own = [record for record in records if record.scenario == scenario]
        for label, some in grouped(own).items():
            yield scenario, label, some


def _scores(records: Sequence[Record]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (scenario, label, accuracy(own)) for scenario, label, own in _cells(records)
    ]
    return Table(
        title="Score by data set",
        columns=("scenario", "method", "right"),
        rows=rows,
        note="Programs: all tests pass (pass@1). Word problems: the program gives the published "
        "number. Plans: every step up to the goal can be carried out, and the goal is then at hand "
        "(executability). These figures depend on the language model.",
    )


def _several(records: Sequence[Record]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for scenario, label, own in _cells(records):
        made = [_attempts(record) for record in own]
        k = min((len(attempts) for attempts in made if attempts), default=1)
        if k > 1:
            k = min(k, MOST)
            values = [
                pass_at_k(len(attempts), sum(one.right for one in attempts), k) if attempts else 0.0
                for attempts in made
            ]
            rows.append((scenario, label, k, rate(values)))
    return Table(
        title="At least one of several attempts",
        columns=("scenario", "method", "k", "pass@k"),
        rows=rows,
        note="Unbiased estimate (Chen et al. 2021, eq. 1).",
    )


def retrieval_table(records: Sequence[Record]) -> Table:
    """How much was looked up, and what that changed in the drafts."""
    rows: list[tuple[Cell, ...]] = []
    for scenario, label, own in _cells(records):
        made = [attempt for record in own for attempt in _attempts(record)]
        checked = sum(attempt.checked for attempt in made)
        if not any(attempt.retrievals for attempt in made):
            continue
        rows.append(
            (
                scenario,
                label,
                spread([float(attempt.retrievals) for attempt in made]),
                spread([float(attempt.steps) for attempt in made]),
                f"{sum(a.changed for a in made) / checked:.0%}" if checked else None,
                sum(len(record.failures) for record in own),
            )
        )
    return Table(
        title="What retrieval did",
        columns=(
            "scenario",
            "method",
            "retrievals",
            "steps drafted",
            "steps changed",
            "unreadable replies",
        ),
        rows=rows,
        note="Mean · median · 95th percentile of an attempt; shares are of the steps for which a "
        "text was found.",
    )


def seconds_table(cells: Iterable[tuple[str, str, Sequence[Record]]]) -> Table:
    """Where the time of a question goes (table 8), of records by scenario and method."""
    rows: list[tuple[Cell, ...]] = []
    for scenario, label, own in cells:
        written = [sum(call.record.seconds for call in record.calls) for record in own]
        # Calls that are made at once take longer together than the question does.
        beside = [
            max(0.0, one.seconds - seconds) for one, seconds in zip(own, written, strict=True)
        ]
        whole = spread([record.seconds for record in own])
        rows.append((scenario, label, spread(written), spread(beside), whole))
    return Table(
        title="Where the time of a question goes (table 8)",
        columns=("scenario", "method", "generation", "search, graph, grading", "total"),
        rows=rows,
        note="Mean · median · 95th percentile of seconds. Generation: the calls of the model. "
        "Nothing is crawled: texts are looked up in a collection, or are what a web search "
        "returns. The paper, for texts: CoT 3.59 in all; RAG-5 0.12 search, 5.17 crawling, 10.72 "
        "generation; RAT 0.47, 4.26, 12.75.",
    )
