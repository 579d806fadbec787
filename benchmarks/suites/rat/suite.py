"""RAT and its baselines on programs, word problems and plans (Wang et al. 2024, section 4).

Score of a question: the share of attempts that are right, which estimates pass@1. Programs are
run in the sandbox, plans by the rules of the crafting world.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from pydantic import JsonValue

from planweave.benchmarks.core.play import OnCall, Way
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Sample, Suite, register
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.rat.items import Item
from planweave.benchmarks.suites.rat.tables import PAPER, paper_name, rat_tables
from planweave.memory import Answer, Context, WorkingMemory

NAME = "rat"


WAYS: Mapping[str, Way] = {
    "direct": Way("direct"),
    "cot": Way("cot"),
    "rag-1": Way("rag", {"retrievals": 1}),
    "rag-5": Way("rag", {"retrievals": 5}),
    "cot-rag": Way("rat", {"revision": "cot_rag"}),
    "rat-non-causal": Way("rat", {"revision": "non_causal"}),
    "rat-step": Way("rat", {"query_from": "step"}),
    "rat-skip": Way("rat", {"skip_agreeing": True}),
    "rat-parallel": Way("rat", {"parallel": True}),
    "rat": Way("rat", {"query_from": "draft"}),
}
"""The methods that are compared, by name."""


@register(NAME, measures="right")
class Rat(Suite):
    """The suite."""

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """Scores by data set, pass@k, what retrieval changed, and the paper's figures."""
        return rat_tables(records)

    def reference(self, method: str, scenario: str, database: str) -> float | None:  # noqa: ARG002
        """What the paper reports with GPT-4; None where it has GPT-3.5 alone."""
        figure = PAPER.get(scenario)
        return figure.scores.get(paper_name(method)) if figure and figure.model == "GPT-4" else None


class Attempt(NamedTuple):
    """What one run of a method came to."""

    product: str | None
    right: bool
    reason: str
    steps: int
    retrievals: int
    checked: int
    changed: int
    skipped: int


@dataclass
class Trial:
    """An item that is attempted some times by one method."""

    item: Item
    attempts: int
    made: list[Attempt] = field(default_factory=list)

    async def play(self, sample: Sample, on_call: OnCall) -> WorkingMemory:
        """Attempt it, each time with another seed, and grade; what is returned is of the last."""
        self.made = []
        memory: WorkingMemory = {}
        for number in range(self.attempts):
            seed = (sample.context.seed or 0) + number
            memory = await WAYS[sample.method].play(sample, on_call, seed=seed)
            self.made.append(await self._graded(memory))
        return memory

    async def _graded(self, memory: WorkingMemory) -> Attempt:
        answer = memory["answer"]
        product = answer["decision"] if answer else None
        right, reason = False, "nothing was written"
        if product:
            right, reason = await asyncio.to_thread(self.item.grade, product)
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
            skipped=sum(one["skipped"] for one in revisions),
        )

    def score(self, answer: Answer | None) -> Score:
        """The share of attempts that are right; a crashed run has none."""
        made = self.made if answer else []
        attempts: list[JsonValue] = [dict(attempt._asdict()) for attempt in made]
        products = [attempt.product for attempt in made if attempt.product]
        return Score(
            value=fmean(attempt.right for attempt in made) if made else 0.0,
            answer=products[0] if products else None,
            explanation="; ".join("right" if one.right else one.reason for one in made),
            details={"attempts": attempts},
        )


def samples(
    items: Iterable[Item],
    *,
    methods: Sequence[str],
    settings: Context,
    attempts: int,
    suite: str = NAME,
    trial: type[Trial] = Trial,
) -> list[Sample]:
    """Every item with every method, item by item; ``trial`` carries one out."""
    made = []
    for item in items:
        for method in methods:
            # Of older records "rat" made its query from the step: they are not taken for these.
            query = WAYS[method].settings.get("query_from", "")
            about = f"{item.content} {attempts} {query}".rstrip()
            content = hashlib.sha256(about.encode()).hexdigest()[:16]
            one = trial(item, attempts)
            made.append(
                Sample(
                    suite=suite,
                    question=f"{item.dataset}-{item.id}".replace("/", "-"),
                    scenario=item.dataset,
                    method=method,
                    database="",
                    asked=item.asked,
                    context=settings,
                    content=content,
                    judge=one.score,
                    play=one.play,
                )
            )
    return made
