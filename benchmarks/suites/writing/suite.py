"""Writing: surveys, biographies and histories, seven of each kind (Wang et al. 2024, section 4.1).

The tasks are our own. No text is right or wrong: the score says only that one was written, and
``planweave arena`` asks people, or a model in their stead, which of two is better.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from planweave.benchmarks.core.metrics import grouped, spread
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Suite, register
from planweave.benchmarks.core.table import Cell, Table
from planweave.benchmarks.suites.rat.items import Grade, Item
from planweave.benchmarks.suites.rat.suite import Trial
from planweave.benchmarks.suites.rat.tables import retrieval_table
from planweave.memory import Answer

NAME = "writing"
_TASKS = Path(__file__).with_name("writing_tasks.json")


@register(NAME, measures="written")
class Writing(Suite):
    """The suite."""

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """How long the texts are, and what retrieval changed in them."""
        return [_texts(records), retrieval_table(records)]


class Commission(Trial):
    """A text that is asked for; the task stands beside it, for those who judge it."""

    def score(self, answer: Answer | None) -> Score:
        """See :meth:`Trial.score`."""
        scored = super().score(answer)
        return scored.model_copy(update={"details": {**scored.details, "asked": self.item.asked}})


def load_tasks(source: str) -> list[Item]:
    """The tasks, kind by kind.

    Args:
        source: What texts are looked up in, by name: another one makes another sample.
    """
    kinds: dict[str, list[str]] = json.loads(_TASKS.read_text(encoding="utf-8"))
    return [
        Item(
            dataset=kind,
            id=str(number),
            asked=asked,
            content=f"{asked} {source}",
            grade=_written,
        )
        for kind, tasks in kinds.items()
        for number, asked in enumerate(tasks, start=1)
    ]


def _written(text: str) -> Grade:
    return Grade(bool(text.strip()), "a text")


def _texts(records: Sequence[Record]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for label, own in grouped(records).items():
        texts = [record.score.answer or "" for record in own]
        paragraphs = fmean(text.count("\n\n") + bool(text) for text in texts)
        rows.append((label, spread([float(len(text.split())) for text in texts]), paragraphs))
    return Table(
        title="Length of the texts",
        columns=("method", "words", "paragraphs"),
        rows=rows,
        note="Mean · median · 95th percentile of words, mean of paragraphs. A longer text is not a "
        "better one: compare them with planweave arena.",
    )
