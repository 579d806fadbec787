"""Products that were made before, graded as those of another data set of the same tasks."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from planweave.benchmarks.core.record import Record
from planweave.benchmarks.suites.rat.items import FILES, Family, Item, load


def matched(
    records: Sequence[Record], family: Family, dataset: str, data: Path
) -> list[tuple[Record, Item]]:
    """Records with the item of ``dataset`` that asks the same, word by word.

    HumanEval+ asks what HumanEval asks and has more tests.
    """
    before = {record.scenario for record in records} & FILES[family].keys() - {dataset}
    asked = {one.question: one.asked for name in before for one in load(family, name, data)}
    items = {item.asked: item for item in load(family, dataset, data)}
    found = [(record, items.get(asked.get(record.question, ""))) for record in records]
    return [(record, item) for record, item in found if item]


def graded_again(pairs: Sequence[tuple[Record, Item]]) -> Iterator[Record]:
    """Each record as one of its item: what was made stays, the score is new."""
    for record, item in pairs:
        attempts = [_graded(attempt, item) for attempt in _attempts(record)]
        score = record.score.model_copy(
            update={
                "value": fmean(one["right"] for one in attempts) if attempts else 0.0,
                "explanation": "; ".join(
                    "right" if one["right"] else one["reason"] for one in attempts
                ),
                "details": {**record.score.details, "attempts": attempts},
            }
        )
        key = record.key.replace(f"/{record.question}/", f"/{item.question}/")
        named = {"key": key, "question": item.question, "scenario": item.dataset}
        yield record.model_copy(update={**named, "score": score})


def _attempts(record: Record) -> list[dict[str, Any]]:
    attempts: Any = record.score.details.get("attempts", [])
    return list(attempts)


def _graded(attempt: Mapping[str, Any], item: Item) -> dict[str, Any]:
    if not attempt["product"]:
        return {**attempt}
    right, reason = item.grade(attempt["product"])
    return {**attempt, "right": right, "reason": reason}
