"""Tables of the RAT benchmark, from its records alone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from pydantic import BaseModel, TypeAdapter

from planweave.benchmarks.core.metrics import accuracy, grouped, rate, spread
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cell, Table
from planweave.benchmarks.suites.rat.code_eval import pass_at_k

MOST = 5
"""The largest k of pass@k, as in the paper."""


class Published(NamedTuple):
    """What the paper reports on a data set (tables 1 and 2), from 0 to 1, and for which model."""

    model: str
    scores: Mapping[str, float]


def _published(model: str, *scores: float) -> Published:
    return Published(
        model, dict(zip(("direct", "cot", "rag-1", "rag-5", "rat"), scores, strict=True))
    )


PAPER: Mapping[str, Published] = {
    "HumanEval": _published("GPT-4", 0.5732, 0.5487, 0.6110, 0.6280, 0.6933),
    "HumanEval+": _published("GPT-4", 0.5436, 0.5190, 0.5804, 0.5951, 0.6463),
    "MBPP": _published("GPT-4", 0.6000, 0.6122, 0.5853, 0.6012, 0.6890),
    "MBPP+": _published("GPT-4", 0.6613, 0.6442, 0.6577, 0.6356, 0.6736),
    "GSM8K": _published("GPT-3.5", 0.6585, 0.6382, 0.6181, 0.6181, 0.7136),
    "GSM-Hard": _published("GPT-3.5", 0.5126, 0.4472, 0.5126, 0.5678, 0.6734),
    "Minecraft": _published("GPT-4", 0.1933, 0.4933, 0.3100, 0.3300, 0.7667),
}


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
        _beside_paper(records),
    ]


def paper_name(method: str) -> str:
    """The method of the paper that ours is, whatever settings its label names."""
    return method.partition(" ")[0]


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


def _beside_paper(records: Sequence[Record]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    direct = {(r.question, r.model): r.score.value for r in records if r.method == "direct"}
    for scenario, label, own in _cells(records):
        name, published = paper_name(label), PAPER.get(scenario)
        if published is None or name not in published.scores:
            continue
        value, theirs = fmean(record.score.value for record in own), published.scores[name]
        both = [
            (one.score.value, direct[one.question, one.model])
            for one in own
            if (one.question, one.model) in direct
        ]
        rows.append(
            (
                scenario,
                label,
                f"{value:.1%}",
                _gain(both),
                f"{theirs:.1%}",
                _gain([(theirs, published.scores["direct"])]),
                published.model,
            )
        )
    return Table(
        title="Beside the paper",
        columns=("scenario", "method", "ours", "over direct", "paper", "over direct", "its model"),
        rows=rows,
        note="Another and far larger model, other corpora and other samples: the paper's figures "
        "show what the method can bring, not what it should bring here. Ours over direct is of the "
        "questions that both were asked. Its ablations are of "
        "GPT-3.5 on HumanEval: cot-rag 53.9%, rat-non-causal 57.3%, rat 59.2% (tables 3 and 4).",
    )


def _gain(both: Sequence[tuple[float, float]]) -> str | None:
    """Relative improvement over the direct answer, of pairs; None where that is never right."""
    direct = sum(plain for _, plain in both)
    return f"{sum(value for value, _ in both) / direct - 1:+.0%}" if direct else None
