"""Locks by name, within a process."""

import asyncio
from weakref import WeakValueDictionary


class NamedLocks:
    """One lock for each person or thing, so that work for different names never waits."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def get(self, name: str) -> asyncio.Lock:
        """The lock of this name."""
        if (lock := self._locks.get(name)) is None:
            lock = self._locks[name] = asyncio.Lock()
        return lock
