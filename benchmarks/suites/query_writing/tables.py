"""The tables of the suites that measure query writing, made from records."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import median

from planweave.benchmarks.core.metrics import (
    Groups,
    accuracy,
    group_by_method,
    rate,
    rate_of,
    spread,
)
from planweave.benchmarks.core.picture import Figure
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cells, ReportTable, row_per_method, table_by_part


def query_tables(records: Sequence[Record]) -> list[ReportTable]:
    """All tables; crashed samples count as failed."""
    asked = group_by_method([record for record in records if _is_answerable(record)])
    others = group_by_method([record for record in records if not _is_answerable(record)])
    return [
        _results(asked),
        _green_and_amber(asked),
        _accuracy_by(asked, "Accuracy by part", "part", lambda record: record.scenario),
        _accuracy_by(asked, "Accuracy by category", "category", _category),
        _accuracy_by(asked, "Accuracy by database", "database", _database),
        _prompts(group_by_method(records)),
        _unanswerable(others),
        _accuracy_by(others, "Refused, by category", "category", _category),
    ]


def _is_answerable(record: Record) -> bool:
    return bool(record.score.details["answerable"])


def _category(record: Record) -> str:
    return str(record.score.details["category"] or "none")


def _database(record: Record) -> str:
    return str(record.score.details["database"])


@row_per_method(
    "Questions that can be answered",
    "method | right | executed | wrong | failed | refused | only order wrong | "
    "right with fewer columns",
    note="Right: the rows match those of an accepted query, whatever columns stand beside "
    "them; their order counts where that query sorts and no ties leave it open. Failed: there "
    "was no query that runs. Refused: the method said that the database cannot answer. Fewer "
    "columns than the accepted query are right only where the question set allows it.",
)
def _results(records: Sequence[Record]) -> Cells:
    return (
        accuracy(records),
        rate([bool(record.score.details["executed"]) for record in records]),
        *(_count(records, result) for result in ("wrong", "failed", "refused")),
        *(
            sum(bool(record.score.details.get(name)) for record in records)
            for name in ("only_order", "narrower")
        ),
    )


@row_per_method(
    "Rows as the answer",
    "method | shown in green | right of these | right of those in amber",
    note="What `planweave ask` shows of the rows: green if nothing speaks against the query "
    "and all candidates returned them, else amber. A single candidate agrees with itself.",
)
def _green_and_amber(records: Sequence[Record]) -> Cells:
    green = [record for record in records if record.score.details.get("shown") == "supported"]
    amber = [record for record in records if record.score.details.get("shown") == "unsure"]
    share = rate([record in green for record in records])
    return (share, accuracy(green), accuracy(amber)) if green or amber else ()


def _count(records: Iterable[Record], result: str) -> int:
    return sum(record.score.details["result"] == result for record in records)


def _accuracy_by(
    groups: Groups, title: str, head: str, part: Callable[[Record], str]
) -> ReportTable:
    found = table_by_part(
        title, head, lambda record: (part(record),), accuracy, order=lambda one: one
    )(groups)
    # A single row would repeat the first table.
    return found if len(found.rows) > 1 else replace(found, rows=[])


@row_per_method(
    "Tokens of a question",
    "method | prompts | prompts, read anew | replies",
    note="Mean · median · 95th percentile. Read anew: without what the model's server had "
    "kept from earlier prompts.",
)
def _prompts(records: Sequence[Record]) -> Cells:
    calls = [[called.record for called in record.calls] for record in records]
    sent = [float(sum(call.input_tokens for call in own)) for own in calls]
    read = [float(sum(call.input_tokens - call.cached_tokens for call in own)) for own in calls]
    return spread(sent), spread(read), spread([sum(c.output_tokens for c in own) for own in calls])


@row_per_method(
    "Questions that the database cannot answer",
    "method | refused | answered | empty | failed",
    note="Answered: a value came back. Empty: the query ran and returned no value. Failed: "
    "there was no query that runs. Only a refusal is right.",
)
def _unanswerable(records: Sequence[Record]) -> Cells:
    refused = rate_of(records, lambda r: r.score.details["result"] == "refused")
    return refused, *(_count(records, result) for result in ("answered", "empty", "failed"))


CAPTION = "Accuracy against seconds"


def draw_accuracy(records: Sequence[Record], figure: Figure) -> None:
    """Draw accuracy against the median seconds, a point for each method and model.

    Only answerable questions count, if there are any.
    """
    asked = [record for record in records if _is_answerable(record)] or records
    figure.set_size_inches(6.4, 4.2)
    axis = figure.subplots()
    for label, own in group_by_method(asked).items():
        seconds, share = median(record.seconds for record in own), accuracy(own)
        assert share is not None  # noqa: S101 (a group has records)
        ends = [[share.value - share.low], [share.high - share.value]]
        axis.errorbar(seconds, share.value, yerr=ends, fmt="o", capsize=3, label=label)
    axis.set_xlabel("seconds a question (median)")
    axis.set_ylabel("accuracy with 95 % interval")
    axis.set_xlim(left=0)
    axis.set_ylim(0, 1)
    axis.legend(fontsize=8)
