"""Work that may wait for a disk, done in order in a thread of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class _Job(NamedTuple):
    work: Callable[[], Any]
    done: "asyncio.Future[Any]"


class OneThread:
    """Does one thing after another; whatever came meanwhile it does in one go.

    To hand something to a thread and back costs more than most of what SQLite has to do, the more
    so the busier the event loop is. So under load many jobs share one way there and back.
    """

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._waiting: list[_Job] = []
        self._at_work = False

    async def do(self, work: Callable[[], T]) -> T:
        """Do a job after those that wait already; its result, or what it raises.

        A caller who is cancelled stops waiting, and the job is done nevertheless.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Job(work, done))
        self._go_on()
        return await done

    def close(self) -> None:
        """End the thread when all is done."""
        self._pool.shutdown()

    def _go_on(self) -> None:
        if self._at_work or not self._waiting:
            return
        self._at_work = True
        jobs, self._waiting = self._waiting, []
        self._pool.submit(self._work, jobs, asyncio.get_running_loop())

    def _work(self, jobs: list[_Job], loop: asyncio.AbstractEventLoop) -> None:
        """In the thread: do the jobs, and tell the event loop of all of them at once."""
        ended = [(job.done, *_ending(job.work)) for job in jobs]
        loop.call_soon_threadsafe(self._settle, ended)

    def _settle(self, ended: list[tuple["asyncio.Future[Any]", Any, BaseException | None]]) -> None:
        self._at_work = False
        self._go_on()
        for done, result, error in ended:
            if done.cancelled():
                continue
            if error is None:
                done.set_result(result)
            else:
                done.set_exception(error)


def _ending(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return work(), None
    except BaseException as error:  # it is raised where the result is awaited
        return None, error
