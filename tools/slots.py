"""Slots that owners share: what is bounded in number, and is to go round."""

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
    """A number of slots, of which each owner takes a ``share`` at most.

    A free slot goes to the owner who has fewest, and among those to the one who had none for
    longest: whoever has much to do, in however many threads, waits behind those with little.
    """

    def __init__(self, most: int, share: int) -> None:
        self._most, self._share = most, share
        self._busy: Counter[str] = Counter()
        self._waiting: list[_Turn] = []  # in the order of coming
        self._served: dict[str, int] = {}  # when an owner who waits or is busy last got a slot
        self._given = 0
        self._changed = Condition()

    @contextmanager
    def taken(self, owner: str, seconds: float) -> Iterator[None]:
        """Hold a slot, after at most ``seconds`` of waiting."""
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
        """Whose turn it is."""
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
