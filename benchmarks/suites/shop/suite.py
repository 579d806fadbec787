"""Decisions about eight generated shops with rules; the generator knows the right ones."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import typer

from planweave import prompts
from planweave.benchmarks.core.lines import cache_script
from planweave.benchmarks.core.options import Limit, SuiteModel, listed
from planweave.benchmarks.core.play import Memory, OnCall, play_graph
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample, Selection, ShowStatus, Suite, drawn, register
from planweave.benchmarks.suites.query_writing.solver import SOLVERS, QueryTask
from planweave.benchmarks.suites.query_writing.trial import solve
from planweave.benchmarks.suites.shop.tables import shop_tables
from planweave.graphs import METHODS, of_family
from planweave.memory import Answer, Context, WorkingMemory
from planweave.nodes.assist.query_writer import Need
from planweave.simulators.shops import DOMAINS, Shop, ShopDecision, shop
from planweave.tools.connect import open_database
from planweave.tools.database import Limits

NAME = "shop"

_CANDIDATE_LIMITS = Limits(rows=10_000, characters=1_000_000)


@dataclass(frozen=True, kw_only=True)
class ShopOptions(SuiteModel):
    """Options of the suite."""

    shops: Annotated[
        str, typer.Option("--shop", help="Comma-separated names of shops, or all.")
    ] = "all"
    method: Annotated[
        str,
        typer.Option(
            help="Comma-separated methods, or all deciders. A mode of text2sql, such as plain, "
            "decides by one query."
        ),
    ] = "all"
    limit: Limit = None
    seed: Annotated[int, typer.Option(help="Seed of data, names and right decisions.")] = 1


@register(NAME, tables=shop_tables)
class ShopDecisions(Suite):
    """Decisions on eight small databases with rules: right, wrong yet confirmed, undecided.

    Each shop is a scenario; any method that decides can run.
    """

    Options = ShopOptions

    def select(self, options: ShopOptions, context: Context, status: ShowStatus) -> Selection:
        """The decisions of the named shops."""
        deciders, every = [*of_family("decide")], options.method == "all"
        known = dict.fromkeys((*METHODS.names(), *SOLVERS.names()))
        methods = deciders if every else listed(options.method, [*known], "method", every="")
        decisions = choose(listed(options.shops, DOMAINS, "shop"), options.seed, None)
        chosen = decisions[: options.limit]
        made = samples(chosen, methods=methods, settings=context)
        counts = {"questions": len(decisions), "chosen": len(chosen)}
        about = {**counts, "limit": options.limit, "seed": options.seed}
        return Selection(samples=made, about=about)

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Run the graph, or have a solver write one query."""
        play = play_graph if sample.method in METHODS else play_query
        return await play(sample, on_call)

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """1 for the best candidate, 0 for another one or no decision."""
        return score_decision(sample.target, memory.get("answer"))


class ShopQuestion(NamedTuple):
    """A decision about a shop."""

    shop: Shop
    seed: int
    decision: ShopDecision

    @property
    def id(self) -> str:
        """Unique name of the question."""
        name = self.decision.name.replace(" ", "-")
        return f"{self.shop.name}-{self.seed}-{name}"


def choose(names: Iterable[str], seed: int, limit: int | None) -> list[ShopQuestion]:
    """Draw decisions of shops; a smaller limit draws a subset of a larger one."""
    shops = [shop(name, seed) for name in names]
    every = [ShopQuestion(made, seed, decision) for made in shops for decision in made.decisions]
    return drawn(every, limit, seed, lambda asked: asked.id)


def samples(
    asked: Iterable[ShopQuestion], *, methods: Sequence[str], settings: Context
) -> list[Sample]:
    """Samples of every decision and method: method by method, shop by shop."""
    ordered = sorted(asked, key=lambda one: one.shop.name)
    return [_sample(one, method, settings) for method in methods for one in ordered]


def _sample(asked: ShopQuestion, method: str, settings: Context) -> Sample:
    made, decision = asked.shop, asked.decision
    path = cache_script(made.name, made.sql, "sql")
    candidates: tuple[str, ...] = ()
    if decision.candidates:
        result = open_database(str(path)).run(decision.candidates, _CANDIDATE_LIMITS)
        candidates = tuple(str(row[0]) for row in result.rows)
    context = settings.model_copy(
        update={"database": str(path), "rules": made.rules, "candidates": candidates}
    )
    return Sample(
        suite=NAME,
        question=asked.id,
        scenario=made.name,
        method=method,
        database="relational",
        asked=decision.text,
        context=context,
        content=path.stem,
        target=decision,
        aided=True,
    )


def score_decision(decision: ShopDecision, answer: Answer | None) -> Score:
    """1 for the best candidate, 0 for another one or no decision."""
    decided = (answer["decision"] if answer else None) or None
    right = decided is not None and is_same(decided, decision.best)
    return Score(
        value=float(right),
        answer=decided,
        explanation=f"{decided or 'no decision'}; best is {decision.best}",
        details={
            "best": decision.best,
            "result": "right" if right else "wrong" if decided else "undecided",
            "decision": decision.name,
        },
    )


def is_same(decided: str, best: str) -> bool:
    """Whether a decision names a candidate: alone, or an id as the only number of a text."""
    if best.isdecimal():
        return re.findall(r"\d+", decided) == [best]
    return decided.strip().strip("'\".").casefold() == best.casefold()


async def play_query(sample: Sample, on_call: OnCall) -> WorkingMemory:
    """Have the solver that the sample's method names write a query; its first value decides.

    The solver gets the rules as notes on the database. Nothing checks the decision.
    """
    context = sample.context
    need = Need(
        question=sample.asked,
        instructions=prompts.load("query_writing/decision").fill(),
        background=context.rules,
    )
    outcome = await solve(sample, QueryTask(need, context.database or ""), on_call)
    first = outcome.rows[0][0] if outcome.rows else None
    decision = None if first is None else str(first)
    return {
        "answer": Answer(
            decision=decision, why=outcome.query or "", facts=[], unknown=outcome.problem
        )
    }
