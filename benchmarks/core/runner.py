"""Runs samples through the real graphs, a few at a time, and records each as it is finished."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, TypeAlias

from planweave.benchmarks.core.record import Record, shared_texts
from planweave.benchmarks.core.store import ResultFile
from planweave.benchmarks.core.suite import Sample
from planweave.memory import WorkingMemory
from planweave.models import CallRecord, ModelUnavailable

CarryOut: TypeAlias = Callable[[Sample], Awaitable[Record]]
"""Runs one sample, wherever that may be; raises what :func:`carry_out` raises."""

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

    Args:
        samples: What is still to be done.
        results: Where the records go.
        concurrency: Samples in flight at most.
        finished: Called with each record once it is on the disk.
        executor: What runs one sample; :func:`carry_out`, in this process, unless given.

    Raises:
        ModelUnavailable: The model cannot be asked; samples in flight are given up unrecorded.
        OSError: A record cannot be written.
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


async def carry_out(sample: Sample) -> Record:
    """Run one sample; whatever it crashes with becomes the record's ``error``.

    Raises:
        ModelUnavailable: The model cannot be asked, so the next sample would fail alike.
    """
    calls: list[CallRecord] = []
    memory: WorkingMemory = {}
    error = ""
    started, clock = datetime.now(UTC), perf_counter()
    try:
        memory = await sample.play(sample, calls.append)
    except ModelUnavailable:
        raise
    except Exception as crash:  # counted in the report, never hidden
        error = f"{type(crash).__name__}: {crash}"
    seconds = perf_counter() - clock
    texts, called = shared_texts(calls)
    known: dict[str, Any] = {name: memory[name] for name in _KEPT if memory.get(name)}  # type: ignore[literal-required]  # names of WorkingMemory
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
        error=error,
        score=sample.judge(None if error else memory.get("answer")),
        texts=texts,
        calls=called,
        **known,
    )
