"""Work that may wait for a disk, done in order in its own thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class _Job(NamedTuple):
    work: Callable[[], Any]
    done: "asyncio.Future[Any]"


class OneThread:
    """Runs jobs in order in one thread; jobs that arrive meanwhile run together as a batch.

    A switch to a thread and back takes longer than most work of SQLite, above all while the event
    loop is busy. Under load, many jobs share one switch.
    """

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._waiting: list[_Job] = []
        self._is_busy = False

    async def do(self, work: Callable[[], T]) -> T:
        """Run a job after the waiting ones; return its result or raise its error.

        If the caller is cancelled, the job runs nevertheless.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Job(work, done))
        self._start_waiting()
        return await done

    def close(self) -> None:
        """End the thread after all jobs."""
        self._pool.shutdown()

    def _start_waiting(self) -> None:
        if self._is_busy or not self._waiting:
            return
        self._is_busy = True
        jobs, self._waiting = self._waiting, []
        self._pool.submit(self._work, jobs, asyncio.get_running_loop())

    def _work(self, jobs: list[_Job], loop: asyncio.AbstractEventLoop) -> None:
        """In the thread: run the jobs, and pass all results to the event loop at once."""
        ended = [(job.done, *_run_job(job.work)) for job in jobs]
        loop.call_soon_threadsafe(self._settle, ended)

    def _settle(self, ended: list[tuple["asyncio.Future[Any]", Any, BaseException | None]]) -> None:
        self._is_busy = False
        self._start_waiting()
        for done, result, error in ended:
            if done.cancelled():
                continue
            if error is None:
                done.set_result(result)
            else:
                done.set_exception(error)


def _run_job(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return work(), None
    except BaseException as error:  # raised at the await of the result
        return None, error
