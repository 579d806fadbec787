"""What differs between the engines, behind one small contract."""

import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from sqlalchemy import Engine

Row: TypeAlias = tuple[object, ...]
COUNTED_ROWS = 10_000
"""Rows beyond the limit are counted up to here; past it the total stays unknown."""


class Cursor(Protocol):
    """The part of a DB-API cursor that is used here."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names of the result."""

    def fetch(self, count: int) -> list[Row]:
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

    def execute(self, text: str, seconds: float) -> AbstractContextManager[Cursor]:
        """Run ``text`` in a read-only transaction that the engine ends after ``seconds``."""

    def powers(self) -> tuple[str, ...]:
        """What the role of the connection may do beyond reading, each as a short clause."""

    def is_timeout(self, error: Exception) -> bool:
        """Whether the engine stopped the query because its time was over."""

    def is_refusal(self, error: Exception) -> bool:
        """Whether the engine itself forbade the query."""

    def is_disconnect(self, error: Exception) -> bool:
        """Whether the connection is gone."""


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
