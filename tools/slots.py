"""Slots that owners share fairly: a limited number of connections, processes or queries."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition

from planweave.tools.database import QueryTimeout


@dataclass(eq=False)
class _Turn:
    owner: str


class Slots:
    """``most`` slots, of which each owner takes at most ``share``.

    A free slot goes to the owner with the fewest slots, and among those to the owner who got one
    least recently. So an owner with many requests does not delay the others.
    """

    def __init__(self, most: int, share: int) -> None:
        self._most, self._share = most, share
        self._busy: Counter[str] = Counter()
        self._waiting: list[_Turn] = []  # in order of arrival
        self._served: dict[str, int] = {}  # the last turn of each owner who waits or is busy
        self._given = 0
        self._changed = Condition()

    @contextmanager
    def take(self, owner: str, seconds: float) -> Iterator[None]:
        """Take a slot for the time of the block, after waiting at most ``seconds``.

        Raises:
            QueryTimeout: No slot became free in time.
        """
        with self._changed:
            turn = _Turn(owner)
            self._waiting.append(turn)
            try:
                if not self._changed.wait_for(lambda: self._next() is turn, seconds):
                    raise QueryTimeout(
                        f"Other queries took all the {seconds:g} s that this one could wait.",
                        fix="Run fewer at once.",
                    )
                self._given += 1
                self._busy[owner] += 1
                self._served[owner] = self._given
            finally:
                self._waiting.remove(turn)
                self._forget(owner)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._busy[owner] -= 1
                self._forget(owner)
                self._changed.notify_all()

    def _next(self) -> _Turn | None:
        """The turn that gets the next slot."""
        if self._busy.total() >= self._most:
            return None
        able = (turn for turn in self._waiting if self._busy[turn.owner] < self._share)
        return min(able, key=self._order, default=None)

    def _order(self, turn: _Turn) -> tuple[int, int]:
        return self._busy[turn.owner], self._served.get(turn.owner, 0)

    def _forget(self, owner: str) -> None:
        if self._busy[owner] <= 0:
            del self._busy[owner]
            if not any(turn.owner == owner for turn in self._waiting):
                self._served.pop(owner, None)
