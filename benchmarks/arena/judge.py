"""A language model votes instead of people; it judges both orders, and a difference is a tie."""

import asyncio
from collections.abc import Callable, Iterator, Mapping

from planweave.benchmarks.arena.votes import Ballot, Pairing, PairVerdict
from planweave.memory import Context
from planweave.models import CallRecord
from planweave.nodes.support.judges import prefer

_UNSWAPPED: Mapping[str, PairVerdict] = {"1": "a", "2": "b", "tie": "tie", "both bad": "both_bad"}
_SWAPPED: Mapping[str, PairVerdict] = {**_UNSWAPPED, "1": "b", "2": "a"}


async def judge(
    ballot: Ballot,
    context: Context,
    *,
    concurrency: int,
    on_call: Callable[[CallRecord], None],
    finished: Callable[[], None],
) -> None:
    """Judge the rest of the ballot; each vote is written at once."""
    todo = iter(ballot.left())
    workers = (
        _judge_pairings(todo, ballot, context, on_call, finished) for _ in range(concurrency)
    )
    await asyncio.gather(*workers)


async def _judge_pairings(
    todo: Iterator[Pairing],
    ballot: Ballot,
    context: Context,
    on_call: Callable[[CallRecord], None],
    finished: Callable[[], None],
) -> None:
    for match in todo:
        a, b = match.a.text, match.b.text
        one = await prefer(match.asked, a, b, context, on_call)
        other = await prefer(match.asked, b, a, context, on_call)
        unswapped = _UNSWAPPED[one.better] if one else None
        swapped = _SWAPPED[other.better] if other else None
        verdict: PairVerdict | None = None
        if unswapped and swapped:
            verdict = unswapped if unswapped == swapped else "tie"
        ballot.cast(match, verdict, unswapped=unswapped, swapped=swapped)
        finished()
