"""The contract between the SQL tool and an engine, and what engines share."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from math import isinf
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from planweave.texts import shorten
from planweave.tools.database import Cell, Fetched, Limits
from planweave.tools.slots import Slots

if TYPE_CHECKING:
    from sqlalchemy import Engine

Row: TypeAlias = tuple[object, ...]
ErrorKind: TypeAlias = Literal["timeout", "refusal", "disconnect", "other"]
"""Whether the engine stopped the query in time, forbade it, lost the connection, or failed."""
COUNTED_ROWS = 10_000
"""Rows beyond the limit are counted up to this number; beyond it the total stays unknown."""
_COUNTING_SECONDS = 1.0
_LARGEST_EXACT = 2**63


class Cursor(Protocol):
    """The part of a DB-API cursor that is used here."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names of the result."""

    def fetch(self, count: int) -> Iterable[Row]:
        """Fetch the next ``count`` rows, or fewer at the end."""

    def skip(self, count: int, seconds: float) -> int | None:
        """Count the rows that are left; None if there are ``count`` or it takes too long."""


class Backend(Protocol):
    """An engine: its connection, its limits and its errors."""

    dialect: str
    """sqlglot's name of the dialect."""
    language: str
    """The language of the model's queries, for example ``SQL (SQLite)``."""
    reader: str
    """SQL that makes a role which may only read the database ``{database}``."""
    engine: "Engine"

    def run(self, text: str, limits: Limits) -> Fetched:
        """Run ``text`` inside ``limits`` so that it can only read.

        Raises:
            QueryTimeout: It was stopped from outside of the engine.
        """

    def find_powers(self) -> tuple[str, ...]:
        """Find what the role of the connection may do beyond reading, each as a short clause."""

    def classify_error(self, error: Exception) -> ErrorKind:
        """Classify an error of the driver."""


class CursorBackend(Backend):
    """A backend that reads through a cursor in this process."""

    def __init__(self) -> None:
        self._slots = Slots(most=15, share=6)  # as many as the pool has connections

    def execute(self, text: str, limits: Limits) -> AbstractContextManager[Cursor]:
        """Run ``text`` in a read-only transaction with a time limit of the engine."""
        raise NotImplementedError

    def run(self, text: str, limits: Limits) -> Fetched:
        """Run ``text``; see :class:`Backend`. Waiting for a slot counts as time of the query."""
        end = time.monotonic() + limits.seconds
        with self._slots.take(limits.owner, limits.seconds):
            left = replace(limits, seconds=max(end - time.monotonic(), 0.001))
            with self.execute(text, left) as cursor:
                return fetch_rows(cursor, left, self.classify_error)


def fetch_rows(
    cursor: Cursor, limits: Limits, classify_error: Callable[[Exception], ErrorKind]
) -> Fetched:
    """Fetch the rows that fit the limits, and count all if that is quick."""
    shown: list[tuple[Cell, ...]] = []
    number, left = 0, limits.characters
    for number, row in enumerate(cursor.fetch(limits.rows + 1), start=1):
        cells = tuple(make_cell(value, limits.characters // len(row)) for value in row)
        left -= sum(len(str(cell)) + 1 for cell in cells)
        if number <= limits.rows and (left >= 0 or number == 1):
            shown.append(cells)
    if number <= limits.rows:
        return Fetched(cursor.columns, shown, number)
    try:
        more = cursor.skip(COUNTED_ROWS, min(_COUNTING_SECONDS, limits.seconds))
    except Exception as error:
        if classify_error(error) != "timeout":
            raise
        more = None  # the rows are fetched; only their number is unknown
    total = None if more is None else number + more
    return Fetched(cursor.columns, shown, total if (total or 0) <= COUNTED_ROWS else None)


def get_column_names(description: Sequence[Sequence[object]] | None) -> tuple[str, ...]:
    """Return the column names of a DB-API cursor's description."""
    return tuple(str(column[0]) for column in description or ())


def count_rows(rows: Iterable[object], count: int, seconds: float) -> int | None:
    """Count rows as they arrive (see :meth:`Cursor.skip`)."""
    deadline = time.monotonic() + seconds
    number = 0
    for number, _ in enumerate(rows, start=1):
        if number == count or time.monotonic() > deadline:
            return None
    return number


def make_cell(value: object, characters: int) -> Cell:
    """Convert a driver's value to a plain one.

    Numbers stay numbers, dates become ISO text, binary data its size, and text longer than
    ``characters`` is cut.
    """
    match value:
        case None | bool() | int() | float():
            cell: Cell = value
        case Decimal():
            cell = _convert_decimal(value, characters)
        case datetime():
            cell = value.isoformat(" ")
        case date() | time_of_day():
            cell = value.isoformat()
        case bytes() | bytearray() | memoryview():
            cell = f"<{len(bytes(value))} bytes>"
        case list() | tuple():
            cell = [make_cell(item, characters) for item in value]
        case dict():
            cell = {str(key): make_cell(item, characters) for key, item in value.items()}
        case _:
            cell = shorten(str(value), characters)
    return cell


def _convert_decimal(value: Decimal, characters: int) -> int | float | str:
    if value.is_finite() and abs(value) < _LARGEST_EXACT and value == int(value):
        return int(value)
    is_too_large = isinf(float(value)) and value.is_finite()
    return shorten(str(value), characters) if is_too_large else float(value)
