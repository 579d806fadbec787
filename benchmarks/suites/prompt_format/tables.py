"""The tables of the prompt formats."""

from collections.abc import Sequence
from statistics import fmean

from planweave.benchmarks.core.metrics import (
    Groups,
    group_by,
    group_by_method,
    rate_of,
    sign_test,
    spread,
)
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import (
    Cells,
    ReportTable,
    Rows,
    row_per_method,
    table_by_part,
    table_of_rows,
)


def format_tables(records: Sequence[Record]) -> list[ReportTable]:
    """All tables of the suite."""
    groups = group_by_method(records)
    return [_replies(groups), _prompts(groups), _against_plain(groups)]


@row_per_method(
    "Repetition and length",
    "format | repetition | characters | cut",
    note="A reply repeats itself if a block of up to 20 words occurs three times in a row, or "
    "if eight words in a row occur again. Characters: mean · median · 95th percentile. Cut: "
    "replies that reached the limit of tokens.",
)
def _replies(records: Sequence[Record]) -> Cells:
    made = [record for record in records if not record.error]
    repeated = rate_of(made, lambda record: bool(record.score.details["repeats"]))
    lengths = [float(str(record.score.details["characters"])) for record in made]
    return repeated, spread(lengths), sum(bool(r.score.details["cut"]) for r in made)


_prompts = table_by_part(
    "Each prompt",
    "prompt",
    lambda record: (record.question,),
    lambda own: f"{sum(record.score.value for record in own):g}/{len(own)}",
    note="Trials in which the instruction was followed.",
)


@table_of_rows(
    "Formats against plain text",
    "format | prompts | difference | better on | worse on | p",
    note="Each prompt's share over its trials, against the same prompt in plain text at the "
    "same temperature. Exact sign test over the prompts that differ; p is not corrected for "
    "the number of comparisons.",
)
def _against_plain(groups: Groups) -> Rows:
    for label, records in groups.items():
        first = records[0]
        if first.method == "plain":
            continue
        plain = [r for own in groups.values() for r in own if _is_plain_baseline(first, r)]
        other, own = _by_prompt(plain), _by_prompt(records)
        change = {name: own[name] - other[name] for name in own.keys() & other.keys()}
        if change:
            test = sign_test(own, other)
            counts = (test.first, test.second, f"{test.p:.3f}")
            yield label, len(change), f"{fmean(change.values()):+.1%}", *counts


def _is_plain_baseline(record: Record, other: Record) -> bool:
    same = (record.model, record.settings) == (other.model, other.settings)
    return other.method == "plain" and same


def _by_prompt(records: Sequence[Record]) -> dict[str, float]:
    asked = group_by(records, lambda record: record.question)
    return {name: fmean(record.score.value for record in own) for name, own in asked.items()}
