"""Tables of the multi-hop benchmark."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from pydantic import BaseModel

from planweave.benchmarks.core.metrics import (
    Groups,
    accuracy,
    bootstrap,
    by_part_and_method,
    group_by_method,
    rate,
    spread,
)
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cells, ReportTable, Rows, row_per_group, table_of_rows
from planweave.benchmarks.suites.mhqa.corpus import Place

_FUREPA = "furepa"


class _Details(BaseModel):
    """Details that a record keeps of its question."""

    f1: float
    hops: int
    supporting: list[Place]


class Support(NamedTuple):
    """Share of the supporting paragraphs found, and 1 if all were found, else 0."""

    recall: float
    whole: float


def judge_support(supporting: Sequence[Place], found: Sequence[Place]) -> Support:
    """Compare the paragraphs found with those that support the answer, at least one."""
    recall = len(set(supporting) & set(found)) / len(set(supporting))
    return Support(recall, float(recall == 1))


def mhqa_tables(records: Sequence[Record], methods: Sequence[str]) -> list[ReportTable]:
    """All tables of the suite, the methods in the order of their names in ``methods``."""
    groups = dict(
        sorted(group_by_method(records).items(), key=lambda one: _method_order(one[1], methods))
    )
    return [_by_dataset(groups), _by_hops(groups), _furepa_against_others(groups), _rounds(groups)]


def _method_order(records: Sequence[Record], methods: Sequence[str]) -> tuple[int, str]:
    method = records[0].method
    return (methods.index(method) if method in methods else len(methods), method)


def _details(record: Record) -> _Details:
    return _Details.model_validate(record.score.details)


def _f1(record: Record) -> float:
    return _details(record).f1


def _support_found(record: Record) -> Support:
    return judge_support(_details(record).supporting, record.pages())


def _has_searches(records: Sequence[Record]) -> bool:
    return any(record.turns for record in records)


def _figures(records: Sequence[Record]) -> Cells:
    """Exact match, F1, and the paragraphs found if there was a search."""
    supports = [_support_found(record) for record in records] if _has_searches(records) else []
    return (
        accuracy(records),
        rate([_f1(record) for record in records]),
        rate([one.recall for one in supports]),
        rate([one.whole for one in supports]),
    )


_FIGURES = "exact match | F1 | supporting paragraphs found | all of them found"


_by_dataset = row_per_group(
    by_part_and_method,
    "Answers and paragraphs by data set",
    "data set | method | " + _FIGURES,
    note="Published normalisation; an answer without a short answer counts as empty. Found is "
    "what a fact was read from at the end. In brackets: 95 % interval and number of "
    "questions. Every figure here depends on the language model but for the paragraphs that "
    "rag-1 and rag-5 find.",
)(_figures)


def _hops(record: Record) -> str:
    return f"{record.scenario}, {_details(record).hops} hops"


_by_hops = row_per_group(
    partial(by_part_and_method, part=_hops),
    "By number of hops",
    "part | method | " + _FIGURES,
    note="A hop is a supporting paragraph (HotpotQA, 2WikiMultihopQA) or a step of the "
    "published way to the answer (MuSiQue).",
)(_figures)


@table_of_rows(
    "FuRePA beside the others, on the same questions",
    "other method | questions | F1 gained | supporting paragraphs gained",
    note="Mean difference in percentage points with its 95 % interval (bootstrap over "
    "questions); above 0 FuRePA is better. For exact match see the paired test below.",
)
def _furepa_against_others(groups: Groups) -> Rows:
    for label, own in groups.items():
        ours = _by_question(groups.get(_furepa_label(label), ()))
        theirs = _by_question(own)
        pairs = [(mine, theirs[name]) for name, mine in ours.items() if name in theirs]
        if label == _furepa_label(label) or not pairs:
            continue
        f1 = _difference([_f1(mine) - _f1(other) for mine, other in pairs])
        found = [
            _support_found(mine).recall - _support_found(other).recall for mine, other in pairs
        ]
        yield label, len(pairs), f1, _difference(found) if _has_searches(own) else None


def _furepa_label(label: str) -> str:
    """The label of FuRePA with the model and settings of another label."""
    return " ".join([_FUREPA, *label.split(" ")[1:]])


def _by_question(records: Sequence[Record]) -> dict[str, Record]:
    return {record.question: record for record in records}


def _difference(values: Sequence[float]) -> str:
    """Mean in percentage points with its bootstrap interval."""
    (found,) = bootstrap([(one,) for one in values], lambda mean: [100 * mean])
    return f"{found:+.1f}"


def _all_and_by_hops(groups: Groups) -> Iterable[tuple[str, str, Sequence[Record]]]:
    return [*(("all", *one) for one in groups.items()), *by_part_and_method(groups, _hops)]


@row_per_group(
    _all_and_by_hops,
    "Rounds",
    "part | method | questions | rounds | unreadable replies",
    note="Mean · median · 95th percentile of a question. A round is a search, or one that was "
    "not made since it had been made before.",
)
def _rounds(own: Sequence[Record]) -> Cells:
    rounds = spread([len(record.turns) for record in own])
    return len(own), rounds, sum(len(record.failures) for record in own)
