"""RAT and its baselines on programs, word problems and plans (Wang et al. 2024, section 4).

The score of a question is the share of right attempts, which estimates pass@1. Programs run in the
sandbox, plans by the rules of the crafting world.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, ClassVar, NamedTuple

import typer
from pydantic import JsonValue

from planweave.benchmarks.core.options import Options, listed, one_of
from planweave.benchmarks.core.play import Memory, OnCall, Way
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample, Selection, ShowStatus, Suite, drawn, register
from planweave.benchmarks.suites.rat.items import FILES, Item, load, require_corpus
from planweave.benchmarks.suites.rat.tables import Attempt, rat_tables
from planweave.memory import Context, WorkingMemory
from planweave.texts import digest
from planweave.tools.documents.collection import open_collection

NAME = "rat"

WAYS: Mapping[str, Way] = {
    "direct": Way("direct"),
    "cot": Way("cot"),
    "rag-1": Way("rag", {"retrievals": 1}),
    "rag-5": Way("rag", {"retrievals": 5}),
    "cot-rag": Way("rat", {"revision": "cot_rag"}),
    "rat-non-causal": Way("rat", {"revision": "non_causal"}),
    "rat-step": Way("rat", {"query_from": "step"}),
    "rat": Way("rat", {"query_from": "draft"}),
}
"""The compared methods by name."""


@dataclass(frozen=True, kw_only=True)
class AttemptOptions(Options):
    """Options of RAT's suites."""

    method: Annotated[
        str, typer.Option(help=f"Comma-separated methods, or all: {', '.join(WAYS)}.")
    ] = "direct,cot,rag-1,rag-5,rat"
    dataset: Annotated[str, typer.Option(help="Comma-separated data sets, or all.")] = ""
    samples: Annotated[int | None, typer.Option(help="Attempts at each item.", min=1, max=100)] = (
        None
    )
    collection: Annotated[
        str, typer.Option(help="Search this collection instead of the corpus.")
    ] = ""

    @property
    def attempts(self) -> int:
        """Number of attempts at each item."""
        return self.samples or 1

    def settings(self) -> dict[str, str | int]:
        """Several attempts vary by temperature, unless the user sets another."""
        spread: dict[str, str | int] = {"temperature": "0.8"} if self.attempts > 1 else {}
        return {**super().settings(), **spread}


@dataclass(frozen=True, kw_only=True)
class RatOptions(AttemptOptions):
    """Options of the suite."""

    family: Annotated[str, typer.Option(help="code, maths or planning.")]
    data: Annotated[Path, typer.Option(help="Folder of the family's published files.")]
    dataset: Annotated[
        str, typer.Option(help="Comma-separated data sets; the family's first if unset.")
    ] = ""
    samples: Annotated[
        int | None,
        typer.Option(
            help="Attempts at each item; if unset, 5 for code, 3 for maths, else 1.", min=1, max=100
        ),
    ] = None

    @property
    def attempts(self) -> int:
        """As in the paper: pass@5 of programs, the mean of three attempts at a word problem."""
        return self.samples or {"code": 5, "maths": 3}.get(self.family, 1)

    def settings(self) -> dict[str, str | int]:
        """The family determines what a method writes."""
        return {**super().settings(), "family": one_of(self.family, tuple(FILES), "task family")}


@register(NAME, measures="right", tables=rat_tables)
class Rat(Suite):
    """RAT and its baselines on programs, word problems or plans."""

    Options: ClassVar[type[AttemptOptions]] = RatOptions

    def source(self, options: Any) -> dict[str, str]:
        """The setting that names the collection to search."""
        if options.collection:
            open_collection(options.collection)
        return {
            "collection": options.collection or require_corpus(options.family, str(options.data))
        }

    def pools(self, options: Any, source: str) -> dict[str, list[Item]]:
        """Load the named data sets; another collection than the corpus is part of the content."""
        names, other = tuple(FILES[options.family]), options.collection
        wanted = listed(options.dataset or names[0], names, "data set")
        found = {name: load(options.family, name, options.data) for name in wanted}
        if not other:
            return found
        return {
            name: [replace(item, content=f"{item.content} {other}") for item in items]
            for name, items in found.items()
        }

    def select(self, options: Any, context: Context, status: ShowStatus) -> Selection:
        """Every chosen item with every method, item by item."""
        methods = listed(options.method, tuple(WAYS), "method")
        source = self.source(options)
        pools = self.pools(options, " ".join(source.values()))
        items = [
            item
            for pool in pools.values()
            for item in drawn(pool, options.limit, options.seed, lambda one: one.id)
        ]
        context = context.model_copy(update=source)
        about = options.about(
            name=", ".join(pools),
            attempts=options.attempts,
            questions=sum(map(len, pools.values())),
            chosen=len(items),
            **source,
        )
        return Selection(
            samples=[
                self._sample(Target(item, options.attempts), method, context)
                for item in items
                for method in methods
            ],
            about=about,
            context=context,
        )

    def _sample(self, target: "Target", method: str, context: Context) -> Sample:
        item, attempts = target
        # In older records, "rat" made its query from the step; these must have other keys.
        query = WAYS[method].settings.get("query_from", "")
        about = f"{item.content} {attempts} {query}".rstrip()
        return Sample(
            suite=self.name,
            question=item.question,
            scenario=item.dataset,
            method=method,
            asked=item.asked,
            context=context,
            content=digest(about),
            target=target,
        )

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Run all attempts, each with its own seed.

        The memory is that of the last attempt, with the failures and memories of all attempts.
        """
        made: list[WorkingMemory] = []
        for number in range(sample.target.attempts):
            seed = (sample.context.seed or 0) + number
            made.append(await WAYS[sample.method].play(sample, on_call, seed=seed))
        failures = [failure for one in made for failure in one["failures"]]
        return {**made[-1], "failures": failures, "attempts": made}

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """The share of right attempts; a crashed run has none."""
        made = [await _grade_attempt(sample.target.item, one) for one in memory.get("attempts", [])]
        attempts: list[JsonValue] = [attempt.model_dump() for attempt in made]
        products = [attempt.product for attempt in made if attempt.product]
        return Score(
            value=fmean(attempt.right for attempt in made) if made else 0.0,
            answer=products[0] if products else None,
            explanation="; ".join("right" if one.right else one.reason for one in made),
            details={"attempts": attempts},
        )


class Target(NamedTuple):
    """An item and its number of attempts."""

    item: Item
    attempts: int


async def _grade_attempt(item: Item, memory: WorkingMemory) -> Attempt:
    answer = memory["answer"]
    product = answer["decision"] if answer else None
    right, reason = False, "nothing was written"
    if product:
        right, reason = await asyncio.to_thread(item.grade, product)
    revisions = memory["revisions"]
    looked_up = [lookup["step"] for lookup in memory["lookups"] if lookup["page"]]
    checked = looked_up if all(looked_up) else memory["draft"]  # 0: all steps at once
    return Attempt(
        product=product,
        right=right,
        reason=reason,
        steps=len(memory["draft"]),
        retrievals=len(memory["lookups"]) or len(memory["facts"]),
        checked=len(checked) if revisions else 0,
        changed=len({one["step"] for one in revisions if one["before"] != one["after"]}),
    )
