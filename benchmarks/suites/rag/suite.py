"""RAG answers judged by people: pairs as samples, and whether a way of rating agrees with them.

The pairs are those of RAGChecker's meta-evaluation (Ru et al. 2024): two answers to a query, a
reference, and two annotators who say how much better one is.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer
from pydantic import BaseModel, JsonValue

from planweave import BadInput
from planweave.benchmarks.core.options import Options, listed
from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import (
    Memory,
    Sample,
    Selection,
    Status,
    Suite,
    drawn,
    register,
)
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.rag.tables import agreement_tables
from planweave.benchmarks.suites.rag.ways import CRITERIA, WAYS, Pair, Rated, rate_pair
from planweave.memory import Answer, Context
from planweave.records import read_records

NAME = "rag"

_FIX = (
    "Name a .jsonl or .jsonl.gz file with dataset, instance_id, query, gt_answer, response_a, "
    "response_b and human on each line."
)


@dataclass(frozen=True, kw_only=True)
class RagOptions(Options):
    """What may be chosen."""

    data: Annotated[Path, typer.Option(help="Pairs of answers judged by people (.jsonl[.gz]).")]
    method: Annotated[str, typer.Option(help="Ways of rating with commas between, or all.")] = "all"


@register(NAME, measures="agreement of sign")
class RagJudges(Suite):
    """Judges of RAG answers, beside people and beside what needs no model.

    Each way of rating answers is a method, and people are the truth.
    """

    Options = RagOptions

    def select(self, options: RagOptions, context: Context, status: Status) -> Selection:
        """Pairs with every way of rating."""
        methods = listed(options.method, WAYS, "way of rating")
        found = load(options.data)
        chosen = drawn(found, options.limit, options.seed, name_of)
        made = samples(chosen, methods=methods, settings=context)
        counts = {"questions": len(found), "chosen": len(chosen)}
        return Selection(samples=made, about={**options.about(), **counts})

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Rate both answers; the decision is the difference, as JSON."""
        rated = await rate_pair(sample.target, sample.method, sample.context, on_call)
        difference = Difference.of(rated)
        unknown = "" if difference.overall is not None else "An answer could not be measured."
        answer = Answer(
            decision=difference.model_dump_json(),
            why=f"a: {_written(rated.a)}; b: {_written(rated.b)}",
            facts=[],
            unknown=unknown,
        )
        return {"answer": answer, "failures": list(rated.failures), "difference": difference}

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """See :func:`scored`."""
        return scored(sample.target, memory.get("difference"))

    def tables(self, records: Sequence[Record]) -> list[Table]:
        """Agreement with people by criterion, on all pairs and on the same; what is unmeasured."""
        return agreement_tables(records)


class Difference(BaseModel):
    """What b is worth more than a; None where that was not measured."""

    correctness: float | None
    completeness: float | None
    overall: float | None
    statements: int
    unjudged: int

    @classmethod
    def of(cls, rated: Rated) -> "Difference":
        """The difference of both answers' worth, criterion by criterion."""
        correctness, completeness, overall = (
            None if a is None or b is None else b - a for a, b in zip(rated.a, rated.b, strict=True)
        )
        return cls(
            correctness=correctness,
            completeness=completeness,
            overall=overall,
            statements=rated.statements,
            unjudged=rated.unjudged,
        )


def load(path: Path) -> list[Pair]:
    """Read a file of judged pairs.

    Raises:
        BadInput: The file cannot be read, or holds what is no judged pair.
    """
    found = read_records(path, Pair, fix=_FIX)
    if not found:
        raise BadInput(f"{path} holds no pair.", fix=_FIX)
    return found


def samples(pairs: Iterable[Pair], *, methods: Sequence[str], settings: Context) -> list[Sample]:
    """Every pair with every way of rating, pair by pair."""
    made = []
    for pair in pairs:
        content = hashlib.sha256(pair.model_dump_json().encode()).hexdigest()[:16]
        made += [
            Sample(
                suite=NAME,
                question=name_of(pair),
                scenario=pair.dataset.partition("/")[0],
                method=method,
                asked=pair.query,
                context=settings,
                content=content,
                target=pair,
            )
            for method in methods
        ]
    return made


def name_of(pair: Pair) -> str:
    """What result files call a pair."""
    return f"{pair.dataset.replace('/', '-')}-{pair.instance_id}"


def scored(pair: Pair, difference: Difference | None) -> Score:
    """1 if the overall preference has the people's sign, 0 if not, a half where one has none.

    The people's preference is the mean of the annotators.
    """
    overall = difference.overall if difference else None
    people = {name: [getattr(h, name) for h in pair.human] for name in CRITERIA}
    preferred = fmean(people["overall"])
    agreed = 0.5 if not overall or not preferred else float(overall * preferred > 0)
    return Score(
        value=0.0 if overall is None else agreed,
        answer=None if overall is None else _side(overall),
        explanation=f"people: {_side(preferred)}; "
        + ("not measured" if overall is None else f"measured: {_side(overall)}"),
        details={
            "people": {name: list[JsonValue](given) for name, given in people.items()},
            "difference": difference.model_dump() if difference else None,
        },
    )


def _side(difference: float) -> str:
    return "b" if difference > 0 else "a" if difference < 0 else "neither"


def _written(worth: Sequence[float | None]) -> str:
    values = ("not measured" if value is None else f"{value:.3f}" for value in worth)
    return ", ".join(f"{name} {value}" for name, value in zip(CRITERIA, values, strict=True))
