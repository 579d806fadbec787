"""One after another, within a process."""

import asyncio
from weakref import WeakValueDictionary


class Turns:
    """Lets one at a time do something for a person, or with a thing; others never wait."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, name: str) -> asyncio.Lock:
        """The turns of the person or thing of that name."""
        if (lock := self._locks.get(name)) is None:
            lock = self._locks[name] = asyncio.Lock()
        return lock
