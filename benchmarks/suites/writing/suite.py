"""Writing: surveys, biographies and histories, seven of each kind (Wang et al. 2024, section 4.1).

The tasks are our own. No text is right or wrong: the score is 1 if a text was written. In
``planweave arena``, people or a model choose the better of two texts.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer

from planweave.benchmarks.core.metrics import group_by_method, spread
from planweave.benchmarks.core.options import listed
from planweave.benchmarks.core.play import Memory, OnCall
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Sample, register
from planweave.benchmarks.core.table import Cells, ReportTable, row_per_method
from planweave.benchmarks.suites.rat.code_eval import Grade
from planweave.benchmarks.suites.rat.items import Item, require_corpus
from planweave.benchmarks.suites.rat.suite import AttemptOptions, Rat
from planweave.benchmarks.suites.rat.tables import retrieval_table, seconds_table
from planweave.tools.documents.collection import open_collection
from planweave.tools.web.engine import KNOWN, open_engine

NAME = "writing"
_TASKS = Path(__file__).with_name("writing_tasks.json")


@dataclass(frozen=True, kw_only=True)
class WritingOptions(AttemptOptions):
    """Options of the suite."""

    web_search: Annotated[str, typer.Option(help=f"Search the web with: {', '.join(KNOWN)}.")] = ""

    def settings(self) -> dict[str, str | int]:
        """The family determines what a method writes."""
        return {**super().settings(), "family": "writing"}


@register(NAME, measures="written")
class Writing(Rat):
    """Surveys, biographies and histories by RAT and its baselines, for the arena."""

    Options = WritingOptions

    def source(self, options: WritingOptions) -> dict[str, str]:
        """The web, a collection, or the corpus."""
        if options.web_search:
            open_engine(options.web_search)
            return {"web_search": options.web_search}
        if options.collection:
            open_collection(options.collection)
            return {"collection": options.collection}
        return {"collection": require_corpus("writing", "HOTPOTQA")}

    def pools(self, options: WritingOptions, source: str) -> dict[str, list[Item]]:
        """The tasks of the named kinds."""
        tasks = load_tasks(source)
        known = tuple(dict.fromkeys(task.dataset for task in tasks))
        wanted = listed(options.dataset or "all", known, "kind of text")
        return {kind: [task for task in tasks if task.dataset == kind] for kind in wanted}

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """As :meth:`Rat.score`; the details also hold the task, for judging the text."""
        found = await super().score(sample, memory, on_call)
        details = {**found.details, "asked": sample.asked}
        return found.model_copy(update={"details": details})

    def tables(self, records: Sequence[Record]) -> list[ReportTable]:
        """Lengths of the texts, effects of retrieval, and times."""
        groups = group_by_method(records)
        every = (("all", *one) for one in groups.items())
        return [_text_lengths(groups), retrieval_table(groups), seconds_table(every)]


def load_tasks(source: str) -> list[Item]:
    """Load the tasks, kind by kind; ``source`` is part of their content."""
    kinds: dict[str, list[str]] = json.loads(_TASKS.read_text(encoding="utf-8"))
    return [
        Item(kind, str(number), asked, f"{asked} {source}", _grade_text)
        for kind, tasks in kinds.items()
        for number, asked in enumerate(tasks, start=1)
    ]


def _grade_text(text: str) -> Grade:
    return Grade(bool(text.strip()), "a text")


@row_per_method(
    "Length of the texts",
    "method | words | paragraphs",
    note="Mean · median · 95th percentile of words, mean of paragraphs. A longer text is not a "
    "better one: compare them with planweave arena.",
)
def _text_lengths(own: Sequence[Record]) -> Cells:
    texts = [record.score.answer or "" for record in own]
    paragraphs = fmean(text.count("\n\n") + bool(text) for text in texts)
    return spread([len(text.split()) for text in texts]), paragraphs
