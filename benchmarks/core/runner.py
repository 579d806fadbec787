"""Runs samples through the graphs, a few at a time, and records each one when it ends."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import TypeAlias

from planweave.benchmarks.core.play import CRASH, STOPS, Memory, OnCall, describe_crash
from planweave.benchmarks.core.record import Record, share_texts
from planweave.benchmarks.core.store import ResultFile
from planweave.benchmarks.core.suite import Sample, suite
from planweave.models import CallRecord

CarryOut: TypeAlias = Callable[[Sample], Awaitable[Record]]
"""Runs one sample, here or elsewhere; raises what :func:`carry_out` raises."""

Play: TypeAlias = Callable[[Sample, OnCall], Awaitable[Memory]]
"""Plays a sample; see :meth:`Suite.play`."""

_RECORDED = ("answer", "claims", "plan", "turns", "facts", "replans", "failures")


async def run(
    samples: Iterable[Sample],
    results: ResultFile,
    *,
    concurrency: int,
    finished: Callable[[Record], None],
    executor: CarryOut | None = None,
) -> None:
    """Run every sample and append its record; finished records survive any failure.

    ``finished`` receives each record once it is on the disk. ``executor`` runs one sample;
    by default, :func:`carry_out` does so in this process.
    """
    todo, execute = iter(samples), executor or carry_out
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(_run_samples(todo, results, finished, execute))
    except BaseExceptionGroup as failed:
        raise _first_error(failed) from None


async def _run_samples(
    todo: Iterator[Sample],
    results: ResultFile,
    finished: Callable[[Record], None],
    execute: CarryOut,
) -> None:
    for sample in todo:
        record = await execute(sample)
        results.append(record)
        finished(record)


def _first_error(failed: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = failed
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def carry_out(sample: Sample, play: Play | None = None) -> Record:
    """Run one sample and score it; an exception becomes the record's ``error``."""
    calls: list[CallRecord] = []
    benchmark = suite(sample.suite)
    started, clock = datetime.now(UTC), perf_counter()
    try:
        memory = await (play or benchmark.play)(sample, calls.append)
        score = await benchmark.score(sample, memory, calls.append)
    except STOPS:
        raise
    except Exception as crash:  # counted in the report, never hidden
        memory = {CRASH: describe_crash(crash)}
        score = await benchmark.score(sample, memory, calls.append)
    seconds = perf_counter() - clock
    texts, called = share_texts(calls)
    return Record(
        key=sample.key,
        suite=sample.suite,
        question=sample.question,
        scenario=sample.scenario,
        method=sample.method,
        database=sample.database,
        model=sample.context.model,
        settings=sample.settings,
        aids=sample.context.aids,
        started=started.isoformat(timespec="seconds"),
        seconds=seconds,
        error=memory.get(CRASH, ""),
        score=score,
        texts=texts,
        calls=called,
        **{name: memory[name] for name in _RECORDED if memory.get(name)},
    )
