"""Whether a server loses a run, or does a finished step again, when a worker of it is killed.

A round is so many runs that are begun together; in the middle of them one of the server's processes
is killed with SIGKILL. What has become of the runs is read as any caller may read it.
"""

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import httpx
from pydantic import BaseModel

from planweave import BadInput
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.load.measure import Sides, events
from planweave.benchmarks.load.processes import DECISION

_COUNTED = ("runs", "cut", "lost", "repeated", "calls")
_CALLS = 2  # of the model in a run
_LOST_SECONDS = 300  # a run that has not ended by then is lost
_GONE_SECONDS = 60


class Round(BaseModel):
    """What became of the runs of a round.

    Attributes:
        cut: Runs that the killed process was at work on: another went on with them.
        lost: Runs that never ended, or not with the script's decision.
        repeated: Runs in which a step that had ended was done again.
        calls: Calls of the model beyond those of undisturbed runs: each cut run may make the one
            again that it was cut off in.
        seconds: From the first run's begin until the last one had ended.
        problem: What is wrong with the first run that was lost.
    """

    runs: int
    cut: int
    lost: int
    repeated: int
    calls: int
    seconds: float
    problem: str = ""


class Ended(NamedTuple):
    """A run that is over: how often it was taken up, what is wrong with it, steps done twice."""

    attempts: int
    problem: str
    repeated: bool


async def kills(sides: Sides, *, runs: int, rounds: int) -> AsyncIterator[Round]:
    """One round after another; each kill comes when 20 to 80 % of the round's calls have begun."""
    if len(sides.served.workers()) < 2:
        raise BadInput("A worker can only be killed where another goes on.", fix="--workers 2")
    for _ in range(rounds):
        yield await _round(sides, runs, random.uniform(0.2, 0.8))


async def _round(sides: Sides, runs: int, share: float) -> Round:
    before, began = await _calls(sides), time.perf_counter()
    paths = await asyncio.gather(*(_begun(sides) for _ in range(runs)))
    while await _calls(sides) - before < share * _CALLS * runs:
        if time.perf_counter() - began > _LOST_SECONDS:
            break  # they are lost without a kill
        await asyncio.sleep(0.01)
    os.kill(random.choice(sides.served.workers()), signal.SIGKILL)
    over = await asyncio.gather(*(ended(sides, path) for path in paths))
    problems = [one.problem for one in over if one.problem]
    seconds = time.perf_counter() - began
    return Round(
        runs=runs,
        cut=sum(one.attempts > 1 for one in over),
        lost=len(problems),
        repeated=sum(one.repeated for one in over),
        calls=await _calls(sides) - before - _CALLS * runs,
        seconds=seconds,
        problem=problems[0] if problems else "",
    )


async def _calls(sides: Sides) -> int:
    """How often the model has been called."""
    reply = await sides.client.get(str(httpx.URL(sides.model).join("/calls")))
    return int(reply.json())


async def _begun(sides: Sides) -> str:
    """Begin a run in a thread of its own; gives its path."""
    url = sides.served.url
    thread = (await sides.client.post(f"{url}/threads", json={})).json()["thread_id"]
    run = await sides.client.post(f"{url}/threads/{thread}/runs", json=sides.order)
    return f"/threads/{thread}/runs/{run.json()['run_id']}"


async def ended(sides: Sides, path: str) -> Ended:
    """What has become of a run, when it is over, as any caller may see it."""
    deadline = time.monotonic() + _LOST_SECONDS
    run: Any = {"status": "pending"}
    while run["status"] in ("pending", "running"):
        if time.monotonic() > deadline:
            return Ended(1, f"It has not ended after {_LOST_SECONDS} seconds.", repeated=False)
        await asyncio.sleep(0.1)
        run = json.loads(await _asked(sides, path))
    state = json.loads(await _asked(sides, f"{path.partition('/runs/')[0]}/state"))
    received = (await _asked(sides, f"{path}/stream")).splitlines()
    attempts, nodes, error = 1, Counter[str](), ""
    async for event, data in events(_lines(received)):
        if event == "metadata":
            attempts = max(attempts, json.loads(data)["attempt"])
        elif event == "updates":
            nodes.update([*json.loads(data)])
        elif event == "error":
            error = data
    values = state["values"]
    decision = (values.get("answer") or {}).get("decision")
    right = run["status"] == "success" and decision == DECISION
    problem = "" if right else f"{run['status']}, decided {decision!r}. {error}".strip()
    said_again = len(values.get("facts") or ()) > 1 or max(nodes.values(), default=0) > 1
    return Ended(attempts, problem, repeated=said_again)


async def _lines(lines: list[str]) -> AsyncIterator[str]:
    for line in lines:
        yield line


async def _asked(sides: Sides, path: str) -> str:
    """What the server answers; a killed process takes its connections with it: ask again."""
    deadline = time.monotonic() + _GONE_SECONDS
    while True:
        try:
            reply = await sides.client.get(f"{sides.served.url}{path}")
            return reply.raise_for_status().text
        except httpx.HTTPError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)


def table(rounds: list[Round], title: str) -> Table:
    """All rounds in a line."""
    total = [sum(getattr(one, name) for one in rounds) for name in _COUNTED]
    columns = ("kills", "runs", "cut off", "lost", "repeated", "calls made again")
    row = (len(rounds), *total)
    return Table(
        title=title,
        columns=columns,
        rows=[row],
        note="In the middle of the runs of a round a process of the server is killed (SIGKILL). "
        "cut off: runs that it was at work on. lost: runs that did not end with the right answer. "
        "repeated: runs in which a step that had ended was done again. calls made again: calls of "
        "the model beyond those of undisturbed runs; each cut run may make the one again that it "
        "was cut off in.",
    )
