"""A language model in people's stead: asked both ways round, where it changes its mind is a tie."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Literal

from planweave.benchmarks.arena.votes import Ballot, Match, Verdict
from planweave.memory import Context
from planweave.models import CallRecord
from planweave.nodes.support.judges import prefer

_Better = Literal["1", "2", "tie", "both bad"]


async def judge(
    ballot: Ballot,
    context: Context,
    *,
    concurrency: int,
    on_call: Callable[[CallRecord], None],
    finished: Callable[[], None],
) -> None:
    """Have what is left of the ballot judged; each vote is on the disk as soon as it is known."""
    todo = iter(ballot.left())
    workers = (_work(todo, ballot, context, on_call, finished) for _ in range(concurrency))
    await asyncio.gather(*workers)


async def _work(
    todo: Iterator[Match],
    ballot: Ballot,
    context: Context,
    on_call: Callable[[CallRecord], None],
    finished: Callable[[], None],
) -> None:
    for match in todo:
        a, b = match.a.text, match.b.text
        one = await prefer(match.asked, a, b, context, on_call)
        other = await prefer(match.asked, b, a, context, on_call)
        unswapped = _verdict(one.better, "a", "b") if one else None
        swapped = _verdict(other.better, "b", "a") if other else None
        verdict: Verdict | None = None
        if unswapped and swapped:
            verdict = unswapped if unswapped == swapped else "tie"
        ballot.cast(match, verdict, unswapped=unswapped, swapped=swapped)
        finished()


def _verdict(better: _Better, first: Verdict, second: Verdict) -> Verdict:
    verdicts: dict[_Better, Verdict] = {
        "1": first,
        "2": second,
        "tie": "tie",
        "both bad": "both_bad",
    }
    return verdicts[better]
