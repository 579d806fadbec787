"""The events of runs: saved in the table, and sent at once to listeners in this process."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TypeAlias

from planweave.apps.server.runs import FIRST_NUMBER, Runs
from planweave.apps.server.wire import WireEvent

_ALIVE_CHECK_SECONDS = 1.0  # how often a listener checks whether to continue
_QUIET_SECONDS = 15.0
_GATHER_SECONDS = 0.05  # events in this time are saved together


_Queue: TypeAlias = "asyncio.Queue[WireEvent | None]"
"""New events of a run; None means that the table has new ones."""


class Feed:
    """Publishes the events of this process's runs, and follows the events of any run."""

    def __init__(self, runs: Runs, worker: str) -> None:
        self._runs = runs
        self._worker = worker
        self.local: set[str] = set()
        self._unsaved: defaultdict[str, list[WireEvent]] = defaultdict(list)
        self._saving: dict[str, list[WireEvent]] = {}
        self._ending: set[str] = set()
        self._has_unsaved = asyncio.Event()
        self._saved = asyncio.Condition()
        self._listeners: defaultdict[str, set[_Queue]] = defaultdict(set)
        self._progress: Mapping[str, object] = {}

    def publish(self, event: WireEvent) -> None:
        """Send an event to the listeners, and save it soon."""
        self._unsaved[event.run_id].append(event)
        self._has_unsaved.set()
        self.notify(event)

    def notify(self, event: WireEvent) -> None:
        """Send a saved event to the listeners."""
        for queue in self._listeners.get(event.run_id, ()):
            queue.put_nowait(event)

    async def save(self) -> None:
        """Save the unsaved events in the table."""
        await self._has_unsaved.wait()
        await asyncio.sleep(_GATHER_SECONDS)
        self._has_unsaved.clear()
        active = self._unsaved.keys() - self._ending
        self._saving = {run_id: self._unsaved.pop(run_id) for run_id in active}
        batch = [event for newest in self._saving.values() for event in newest]
        try:
            if batch:
                await self._runs.add_events(self._worker, batch)
        except BaseException:
            for run_id, newest in self._saving.items():
                self._unsaved[run_id][:0] = newest
            self._has_unsaved.set()
            raise
        finally:
            self._saving = {}
            async with self._saved:
                self._saved.notify_all()

    @asynccontextmanager
    async def ending(self, run_id: str) -> AsyncIterator[list[WireEvent]]:
        """Yield the unsaved events of a run, for a caller that saves them with the end of the run.

        If the caller fails, they are saved like other events.
        """
        async with self._saved:
            await self._saved.wait_for(lambda: run_id not in self._saving)
        self._ending.add(run_id)
        try:
            yield [*self._unsaved.get(run_id, ())]
            self._unsaved.pop(run_id, None)
        finally:
            self._ending.discard(run_id)
            if run_id in self._unsaved:
                self._has_unsaved.set()

    async def follow(
        self, run_id: str, after: int, alive: Callable[[], bool]
    ) -> AsyncIterator[WireEvent | None]:
        """The events of a run after a number (-1 for all); None after 15 s without an event.

        The last event is ``end``, unless ``alive`` returns false or the event was deleted.
        """
        queue: _Queue = asyncio.Queue()
        self._listeners[run_id].add(queue)
        for event in (*self._saving.get(run_id, ()), *self._unsaved.get(run_id, ())):
            queue.put_nowait(event)
        try:
            async for found in self._events(run_id, after, queue, alive):
                yield found
                if found is not None and found.name == "end":
                    return
        finally:
            self._listeners[run_id].discard(queue)
            if not self._listeners[run_id]:
                del self._listeners[run_id]

    async def watch(self) -> None:
        """Notify listeners of other processes' runs when the table has new events."""
        foreign = [run_id for run_id in self._listeners if run_id not in self.local]
        progress = await self._runs.progress(foreign) if foreign else {}
        for run_id, reached in progress.items():
            if self._progress.get(run_id) != reached:
                for queue in self._listeners.get(run_id, ()):
                    queue.put_nowait(None)
        self._progress = progress

    async def _events(
        self, run_id: str, after: int, queue: _Queue, alive: Callable[[], bool]
    ) -> AsyncIterator[WireEvent | None]:
        last_event = time.monotonic()
        kept, over = await self._runs.events(run_id, after)
        while True:
            for event in kept:
                if event.number > after:
                    after, last_event = event.number, time.monotonic()
                    yield event
            if over or (queue.empty() and not alive()):
                return
            kept = []
            try:
                async with asyncio.timeout(_ALIVE_CHECK_SECONDS):
                    newest = await queue.get()
            except TimeoutError:
                if time.monotonic() > last_event + _QUIET_SECONDS:
                    last_event = time.monotonic()
                    yield None
                continue
            if newest is None:
                kept, over = await self._runs.events(run_id, after)
            elif newest.number > after + 1 and newest.number != FIRST_NUMBER:
                # The table may hold earlier events of another process.
                kept, _ = await self._runs.events(run_id, after)
                kept = [*(event for event in kept if event.number < newest.number), newest]
            else:
                kept = [newest]
