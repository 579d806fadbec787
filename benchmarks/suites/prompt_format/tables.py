"""The tables of the prompt formats, made from records alone."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from planweave.benchmarks.core.metrics import grouped, rate, sign_test, spread
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cell, Table


def format_tables(records: Sequence[Record]) -> list[Table]:
    """All tables of the suite."""
    groups = grouped(records)
    return [_replies(groups), _prompts(groups), _against_plain(groups)]


def _replies(groups: Mapping[str, Sequence[Record]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, records in groups.items():
        made = [record for record in records if not record.error]
        repeated = rate(
            [float(bool(record.score.details["repeats"])) for record in made],
            [record.question for record in made],
        )
        cut = sum(bool(record.score.details["cut"]) for record in made)
        rows.append((label, repeated, spread(_lengths(made)), cut))
    return Table(
        title="Repetition and length",
        columns=("format", "repetition", "characters", "cut"),
        rows=rows,
        note="A reply repeats itself if a block of up to 20 words stands three times in a row, or "
        "if eight words in a row occur again. Characters: mean · median · 95th percentile. Cut: "
        "replies that reached the limit of tokens.",
    )


def _lengths(records: Sequence[Record]) -> list[float]:
    return [float(str(record.score.details["characters"])) for record in records]


def _prompts(groups: Mapping[str, Sequence[Record]]) -> Table:
    names = dict.fromkeys(record.question for records in groups.values() for record in records)
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        own = [[r.score.value for r in found if r.question == name] for found in groups.values()]
        rows.append((name, *(f"{sum(values):g}/{len(values)}" for values in own)))
    return Table(
        title="Each prompt",
        columns=("prompt", *groups),
        rows=rows,
        note="Trials in which the instruction was followed.",
    )


def _against_plain(groups: Mapping[str, Sequence[Record]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, records in groups.items():
        first = records[0]
        if first.method == "plain":
            continue
        plain = [r for own in groups.values() for r in own if _plain_beside(first, r)]
        other, own = _by_prompt(plain), _by_prompt(records)
        change = {name: own[name] - other[name] for name in own.keys() & other.keys()}
        if change:
            rows.append((label, len(change), f"{fmean(change.values()):+.1%}", *_signs(change)))
    return Table(
        title="Formats against plain text",
        columns=("format", "prompts", "difference", "better on", "worse on", "p"),
        rows=rows,
        note="Each prompt's share over its trials, against the same prompt in plain text at the "
        "same temperature. Exact sign test over the prompts that differ; p is not corrected for "
        "the number of comparisons.",
    )


def _plain_beside(record: Record, other: Record) -> bool:
    same = (record.model, record.settings) == (other.model, other.settings)
    return other.method == "plain" and same


def _by_prompt(records: Sequence[Record]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for record in records:
        values.setdefault(record.question, []).append(record.score.value)
    return {name: fmean(found) for name, found in values.items()}


def _signs(change: Mapping[str, float]) -> tuple[Cell, ...]:
    test = sign_test(change, dict.fromkeys(change, 0.0))
    return test.first, test.second, f"{test.p:.3f}"
