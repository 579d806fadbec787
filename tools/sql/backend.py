"""What differs between the engines, behind one small contract."""

from collections.abc import Iterator
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

    def skip(self, count: int) -> int:
        """Pass over at most ``count`` rows without keeping them; return how many there were."""


class Backend(Protocol):
    """One engine: how it is connected to, bounded, and how it reports trouble."""

    dialect: str
    """sqlglot's name of the dialect."""
    language: str
    """What a model must write, for example ``SQL (SQLite)``."""
    engine: "Engine"

    def execute(self, text: str, seconds: float) -> AbstractContextManager[Cursor]:
        """Run ``text`` in a read-only transaction that the engine ends after ``seconds``."""

    def is_timeout(self, error: Exception) -> bool:
        """Whether the engine stopped the query because its time was over."""

    def is_refusal(self, error: Exception) -> bool:
        """Whether the engine itself forbade the query."""

    def is_disconnect(self, error: Exception) -> bool:
        """Whether the connection is gone."""


def columns_of(description: object) -> tuple[str, ...]:
    """Column names from a DB-API cursor's description."""
    return tuple(str(column[0]) for column in _columns(description))


def _columns(description: object) -> Iterator[tuple[object, ...]]:
    if isinstance(description, list | tuple):
        yield from description
