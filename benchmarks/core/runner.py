"""Runs samples through the real graphs, a few at a time, and records each as it is finished."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import TypeAlias

from planweave.benchmarks.core.play import CRASH, STOPS, Memory, OnCall, described
from planweave.benchmarks.core.record import Record, shared_texts
from planweave.benchmarks.core.store import ResultFile
from planweave.benchmarks.core.suite import Sample, suite
from planweave.models import CallRecord

CarryOut: TypeAlias = Callable[[Sample], Awaitable[Record]]
"""Runs one sample, wherever that may be; raises what :func:`carry_out` raises."""

Play: TypeAlias = Callable[[Sample, OnCall], Awaitable[Memory]]
"""Plays a sample; see :meth:`Suite.play`."""

_KEPT = ("answer", "claims", "plan", "turns", "facts", "replans", "failures")


async def run(
    samples: Iterable[Sample],
    results: ResultFile,
    *,
    concurrency: int,
    finished: Callable[[Record], None],
    executor: CarryOut | None = None,
) -> None:
    """Run every sample and append its record; what is done stays done however this ends.

    ``finished`` is called with each record once it is on the disk; ``executor`` runs one
    sample (:func:`carry_out`, in this process, unless given).
    """
    todo, execute = iter(samples), executor or carry_out
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(_work(todo, results, finished, execute))
    except BaseExceptionGroup as failed:
        raise _first(failed) from None


async def _work(
    todo: Iterator[Sample],
    results: ResultFile,
    finished: Callable[[Record], None],
    execute: CarryOut,
) -> None:
    for sample in todo:
        record = await execute(sample)
        results.append(record)
        finished(record)


def _first(failed: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = failed
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def carry_out(sample: Sample, play: Play | None = None) -> Record:
    """Run one sample and score it; whatever that crashes with becomes the record's ``error``."""
    calls: list[CallRecord] = []
    measured = suite(sample.suite)
    started, clock = datetime.now(UTC), perf_counter()
    try:
        memory = await (play or measured.play)(sample, calls.append)
        score = await measured.score(sample, memory, calls.append)
    except STOPS:
        raise
    except Exception as crash:  # counted in the report, never hidden
        memory = {CRASH: described(crash)}
        score = await measured.score(sample, memory, calls.append)
    seconds = perf_counter() - clock
    texts, called = shared_texts(calls)
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
        **{name: memory[name] for name in _KEPT if memory.get(name)},
    )
