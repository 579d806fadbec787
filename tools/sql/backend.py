"""What differs between the engines, behind one small contract."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from planweave.tools.database import Cell, Fetched, Limits
from planweave.tools.slots import Slots
from planweave.tools.sql.values import to_cell

if TYPE_CHECKING:
    from sqlalchemy import Engine

Row: TypeAlias = tuple[object, ...]
COUNTED_ROWS = 10_000
"""Rows beyond the limit are counted up to here; past it the total stays unknown."""
_COUNTING_SECONDS = 1.0


class Cursor(Protocol):
    """The part of a DB-API cursor that is used here."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names of the result."""

    def fetch(self, count: int) -> Iterable[Row]:
        """The next ``count`` rows, or fewer at the end."""

    def skip(self, count: int, seconds: float) -> int | None:
        """Count the rows that are left; None if ``count`` or the time does not suffice."""


class Backend(Protocol):
    """One engine: how it is connected to, bounded, and how it reports trouble."""

    dialect: str
    """sqlglot's name of the dialect."""
    language: str
    """What a model must write, for example ``SQL (SQLite)``."""
    reader: str
    """SQL that makes a role which may only read the database ``{database}``."""
    engine: "Engine"

    def run(self, text: str, limits: Limits) -> Fetched:
        """Run ``text`` so that it only reads, inside ``limits``.

        Raises:
            QueryTimeout: It was stopped from outside of the engine.
        """

    def powers(self) -> tuple[str, ...]:
        """What the role of the connection may do beyond reading, each as a short clause."""

    def is_timeout(self, error: Exception) -> bool:
        """Whether the engine stopped the query because its time was over."""

    def is_refusal(self, error: Exception) -> bool:
        """Whether the engine itself forbade the query."""

    def is_disconnect(self, error: Exception) -> bool:
        """Whether the connection is gone."""


class CursorBackend:
    """A backend that is read through a cursor in this process."""

    def __init__(self) -> None:
        self._slots = Slots(most=15, share=6)  # as many as the pool has connections

    def execute(self, text: str, limits: Limits) -> AbstractContextManager[Cursor]:
        """Run ``text`` in a read-only transaction that the engine ends when its time is over."""
        raise NotImplementedError

    def is_timeout(self, error: Exception) -> bool:
        """See :class:`Backend`."""
        raise NotImplementedError

    def run(self, text: str, limits: Limits) -> Fetched:
        """See :class:`Backend`; waiting for a slot counts."""
        end = time.monotonic() + limits.seconds
        with self._slots.take(limits.owner, limits.seconds):
            left = replace(limits, seconds=max(end - time.monotonic(), 0.001))
            with self.execute(text, left) as cursor:
                return fetched(cursor, left, self.is_timeout)


def fetched(cursor: Cursor, limits: Limits, is_timeout: Callable[[Exception], bool]) -> Fetched:
    """Rows that fit the limits, and how many there are in all, if that is soon counted."""
    shown: list[tuple[Cell, ...]] = []
    number, left = 0, limits.characters
    for number, row in enumerate(cursor.fetch(limits.rows + 1), start=1):
        cells = tuple(to_cell(value, limits.characters // len(row)) for value in row)
        left -= sum(len(str(cell)) + 1 for cell in cells)
        if number <= limits.rows and (left >= 0 or number == 1):
            shown.append(cells)
    if number <= limits.rows:
        return Fetched(cursor.columns, shown, number)
    try:
        more = cursor.skip(COUNTED_ROWS, min(_COUNTING_SECONDS, limits.seconds))
    except Exception as error:
        if not is_timeout(error):
            raise
        more = None  # the rows are there; only their number is not known
    total = None if more is None else number + more
    return Fetched(cursor.columns, shown, total if (total or 0) <= COUNTED_ROWS else None)


def columns_of(description: Sequence[Sequence[object]] | None) -> tuple[str, ...]:
    """Column names from a DB-API cursor's description."""
    return tuple(str(column[0]) for column in description or ())


def count_rows(rows: Iterable[object], count: int, seconds: float) -> int | None:
    """Count rows as they come (see :meth:`Cursor.skip`)."""
    deadline = time.monotonic() + seconds
    number = 0
    for number, _ in enumerate(rows, start=1):
        if number == count or time.monotonic() > deadline:
            return None
    return number
