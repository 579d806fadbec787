"""How many runs a server carries, beside the same graph in a bare loop without a server.

Users ask one after another without a pause, each as soon as his last run has ended (a closed loop).
A step is one visit of a node, counted in the stream ``updates`` on both sides. The model answers
from a script (:mod:`planweave.benchmarks.load.processes`), so what is measured is everything else.
"""

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx
import numpy as np
from pydantic import BaseModel

from planweave import BadInput
from planweave.benchmarks.core.metrics import spread
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.load.processes import DECISION, Served
from planweave.graphs import single_rag
from planweave.memory import Context
from planweave.simulators.registry import scenario

METHOD = "single_rag"
_SAMPLE_SECONDS = 10
_REPLY_SECONDS = 600

Ask = Callable[[], AsyncIterator[Mapping[str, Any]]]
"""Carries out one run; yields its updates, each by the name of its node."""
Loop = Literal["bare", "server"]


class Ran(NamedTuple):
    """One run: how long it took, its steps, and what went wrong (empty if nothing)."""

    seconds: float
    steps: int
    problem: str


class Level(BaseModel):
    """What was measured under one load.

    Attributes:
        loop: The server, or the graph in this process.
        latency_ms: What the model waits before it answers.
        concurrency: Users who ask at once.
        runs: Runs that ended, those with errors included.
        errors: Runs that failed or answered something else than the script.
        problem: The first of their errors.
        seconds: From the first question to the last answer.
        ratio: Steps per second as a part of the bare loop's; None for the bare loop itself.
        cpu_ms: Processor time for each step: of the server's processes, or of this one, in which
            the bare loop runs. It hardly depends on what else the machine does.
        memory_before_mb: Resident memory of the server before this load.
    """

    loop: Loop
    latency_ms: int
    concurrency: int
    runs: int
    errors: int
    problem: str
    seconds: float
    steps_per_second: float
    runs_per_second: float
    p50: float | None
    p95: float | None
    ratio: float | None = None
    cpu_ms: float | None = None
    memory_before_mb: float | None = None
    memory_after_mb: float | None = None


class Slope(BaseModel):
    """Growth of memory in MB an hour with its 95 % interval, from ``n`` means of a minute each."""

    mb_per_hour: float
    low: float
    high: float
    n: int


class Soak(BaseModel):
    """A constant load for a long time: the level, memory as (seconds, MB), and its growth."""

    level: Level
    memory: list[tuple[float, float]]
    slope: Slope | None


def write_database(path: Path) -> None:
    """Write a generated database of the scenario *locating*, of 60 rows, as a SQLite file."""
    with closing(sqlite3.connect(path)) as connection:
        kind = scenario("locating")
        database = kind.ask(kind.generate(1, 60), 1).database
        assert database is not None  # noqa: S101 (it was just made)
        connection.executescript(database.sql)
        connection.commit()


class Sides:
    """Both ways to carry out a run, with the model at one latency.

    Args:
        database: File of the database that every run reads.

    Attributes:
        order: What a run on the server is asked for with.
    """

    def __init__(
        self, client: httpx.AsyncClient, server: Served, model: str, database: Path
    ) -> None:
        self.served = server
        self.client = client
        self.model = model
        self.order: dict[str, Any] = {
            "assistant_id": METHOD,
            "input": {"question": "In which trade node should you place the merchant?"},
            "context": {"model": model, "database": str(database)},
            "stream_mode": ["updates"],
        }

    async def bare(self) -> AsyncIterator[Mapping[str, Any]]:
        """A run in this event loop, without checkpoints."""
        given: Any = self.order["input"]
        context = Context.model_validate(self.order["context"])
        async for update in single_rag.graph.astream(given, context=context, stream_mode="updates"):
            yield update

    async def server(self) -> AsyncIterator[Mapping[str, Any]]:
        """A run over HTTP, streamed."""
        url = f"{self.served.url}/runs/stream"
        async with self.client.stream("POST", url, json=self.order) as response:
            if not response.is_success:
                raise ValueError((await response.aread()).decode()[:300])
            async for event, data in events(response.aiter_lines()):
                if event == "error":
                    raise ValueError(data[:300])
                if event == "updates":
                    yield json.loads(data)


async def events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str]]:
    """The events of a stream with their data, from its lines."""
    event = ""
    async for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            event = value
        elif name == "data":
            yield event, value


def client() -> httpx.AsyncClient:
    """A client for any number of runs at once."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    return httpx.AsyncClient(limits=limits, timeout=_REPLY_SECONDS)


async def one_run(ask: Ask) -> Ran:
    """Carry out one run; what goes wrong is told, not raised."""
    began, steps, decision = time.perf_counter(), 0, None
    problem = ""
    try:
        async for update in ask():
            steps += len(update)
            for change in update.values():
                if change and change.get("answer"):
                    decision = change["answer"]["decision"]
        if decision != DECISION:
            problem = f"The run ended with the decision {decision!r}."
    except Exception as error:  # of whatever kind: it is counted
        problem = f"{type(error).__name__}: {error}"
    return Ran(time.perf_counter() - began, steps, problem)


async def load(
    ask: Ask, concurrency: int, todo: Iterable[object], finished: Callable[[Ran], None]
) -> float:
    """Carry out a run for each of ``todo``, so many at once; gives the seconds of all of it."""
    rest, began = iter(todo), time.perf_counter()

    async def user() -> None:
        for _ in rest:  # shared by all users
            finished(await one_run(ask))

    async with asyncio.TaskGroup() as users:
        for _ in range(concurrency):
            users.create_task(user())
    return time.perf_counter() - began


def level(loop: Loop, latency_ms: int, concurrency: int, ran: list[Ran], seconds: float) -> Level:
    """Sum up the runs under one load."""
    problems = [one.problem for one in ran if one.problem]
    taken = spread([one.seconds for one in ran if not one.problem])
    return Level(
        loop=loop,
        latency_ms=latency_ms,
        concurrency=concurrency,
        runs=len(ran),
        errors=len(problems),
        problem=problems[0] if problems else "",
        seconds=seconds,
        steps_per_second=sum(one.steps for one in ran) / seconds,
        runs_per_second=len(ran) / seconds,
        p50=taken.median if taken else None,
        p95=taken.p95 if taken else None,
    )


async def warm_up(sides: Sides, workers: int) -> None:
    """A few runs on both sides, not measured: the first of a process loads its libraries."""
    ran: list[Ran] = []
    await load(sides.bare, 1, range(2), ran.append)
    await load(sides.server, 4 * workers, range(8 * workers), ran.append)
    if problems := [one.problem for one in ran if one.problem]:
        raise BadInput(f"A run fails already without load. {problems[0]}")


async def compare(
    sides: Sides,
    *,
    latency_ms: int,
    concurrency: int,
    runs: int,
    minutes: float,
    finished: Callable[[], None],
) -> tuple[Level, Level]:
    """One load on the bare loop, then on the server; ``finished`` is called with every run.

    Each has so many runs, but after so many minutes begins no more than two for each user.
    """

    async def measured(loop: Loop, ask: Ask, cpu: Callable[[], float | None]) -> Level:
        ran: list[Ran] = []

        def note(one: Ran) -> None:
            ran.append(one)
            finished()

        todo = chain(range(2 * concurrency), _until(minutes))
        before = cpu()
        seconds = await load(ask, concurrency, islice(todo, runs), note)
        found = level(loop, latency_ms, concurrency, ran, seconds)
        found.cpu_ms = _each(before, cpu(), sum(one.steps for one in ran))
        return found

    bare = await measured("bare", sides.bare, time.process_time)
    before = sides.served.memory_mb()
    served = await measured("server", sides.server, sides.served.cpu_seconds)
    served.ratio = (
        served.steps_per_second / bare.steps_per_second if bare.steps_per_second else None
    )
    served.memory_before_mb, served.memory_after_mb = before, sides.served.memory_mb()
    return bare, served


async def soak(
    sides: Sides,
    *,
    latency_ms: int,
    concurrency: int,
    minutes: float,
    finished: Callable[[], None],
) -> Soak:
    """A constant load on the server, its memory read every ten seconds.

    When the task is cancelled it ends early, with what was measured until then.
    """
    ran: list[Ran] = []
    memory: list[tuple[float, float]] = []

    def note(one: Ran) -> None:
        ran.append(one)
        finished()

    before, began = sides.served.memory_mb(), time.perf_counter()
    watching = asyncio.create_task(_watch(sides.served, memory))
    with suppress(asyncio.CancelledError):
        await load(sides.server, concurrency, _until(minutes), note)
    watching.cancel()
    found = level("server", latency_ms, concurrency, ran, time.perf_counter() - began)
    found.memory_before_mb, found.memory_after_mb = before, sides.served.memory_mb()
    return Soak(level=found, memory=memory, slope=slope(memory))


def slope(memory: list[tuple[float, float]]) -> Slope | None:
    """Growth of memory over the second half of the time; None below three whole minutes of it.

    The first half fills caches and is left out. Samples seconds apart are alike, so a straight line
    is drawn through the means of the minutes, with Student's interval.
    """
    from scipy.stats import linregress, t

    half = memory[-1][0] / 2 if memory else 0.0
    minutes: dict[int, list[float]] = {}
    for seconds, megabytes in memory:
        if seconds >= half:
            minutes.setdefault(int((seconds - half) // 60), []).append(megabytes)
    n = len(minutes)
    if n < 3:
        return None
    line = linregress([minute / 60 for minute in minutes], [np.mean(m) for m in minutes.values()])
    value, reach = float(line.slope), float(t.ppf(0.975, n - 2) * line.stderr)
    return Slope(mb_per_hour=value, low=value - reach, high=value + reach, n=n)


def table(levels: Iterable[Level], title: str) -> Table:
    """What was measured, a line for each load."""
    rows = [
        (
            f"{one.latency_ms} ms",
            one.concurrency,
            one.loop,
            one.runs,
            one.errors,
            one.steps_per_second,
            one.runs_per_second,
            one.p50,
            one.p95,
            one.ratio,
            one.cpu_ms,
            _change(one.memory_before_mb, one.memory_after_mb),
        )
        for one in levels
    ]
    columns = ("model", "users", "loop", "runs", "errors", "steps/s", "runs/s", "p50 s", "p95 s")
    return Table(
        title=title,
        columns=(*columns, "ratio", "CPU ms", "MB"),
        rows=rows,
        note="A step is one visit of a node. ratio: the server's steps/s over the bare loop's. "
        "CPU ms: processor time a step, of the server's processes, or of the bare loop's with its "
        "callers. MB: resident memory of the server's processes, before and after.",
    )


def _change(before: float | None, after: float | None) -> str | None:
    return None if before is None or after is None else f"{before:.0f}, {after:.0f}"


def _each(before: float | None, after: float | None, steps: int) -> float | None:
    """Milliseconds a step."""
    if before is None or after is None or not steps:
        return None
    return (after - before) * 1000 / steps


def growth(soak: Soak) -> str:
    """In a sentence, how memory has grown; empty if there was too little time to tell."""
    found = soak.slope
    if found is None:
        return ""
    interval = f"[{found.low:+.1f}, {found.high:+.1f}]"
    return (
        f"Memory: {found.mb_per_hour:+.1f} MB an hour {interval}, over the last {found.n} minutes."
    )


def _until(minutes: float) -> Iterator[bool]:
    """Something again and again, for so long from now on."""
    deadline = time.monotonic() + minutes * 60
    return iter(lambda: time.monotonic() < deadline, False)


async def _watch(server: Served, memory: list[tuple[float, float]]) -> None:
    began = time.monotonic()
    while True:
        if (megabytes := server.memory_mb()) is not None:
            memory.append((time.monotonic() - began, megabytes))
        await asyncio.sleep(_SAMPLE_SECONDS)
