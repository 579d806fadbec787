"""Whether the rows of a query answer a question, given the rows of the accepted queries.

A result matches an accepted answer when some of its columns, in any order, hold the answer's
rows. Further columns do no harm, and where an answer allows it, missing ones neither. The order
of the rows counts where the accepted query sorts and no ties leave it open.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, JsonValue

Row: TypeAlias = Sequence[JsonValue]
Ties: TypeAlias = Literal["order", "cut"] | None

_RELATIVE = 1e-5
_ABSOLUTE = 1e-9
_TRIES = 20_000


class AcceptedQuery(BaseModel, frozen=True):
    """An accepted query and what it returns."""

    query: str
    rows: tuple[tuple[JsonValue, ...], ...]
    ordered: bool = False
    ties: Ties = None  # of sort keys: they leave the order open, or which rows pass the limit
    narrower: bool = False  # a result with some of its columns is accepted

    @property
    def decides(self) -> bool:
        """Whether its rows can tell right from wrong."""
        return self.ties != "cut"


class RowsMatch(NamedTuple):
    """How a result compares with the accepted answers."""

    right: bool
    reading: int | None  # place of the first answer with these rows in any order
    narrower: bool = False  # it has only some of the columns of that one


def match(rows: Sequence[Row], readings: Sequence[AcceptedQuery]) -> RowsMatch:
    """Compare a result with every accepted answer that decides."""
    unordered = RowsMatch(False, None)
    for place, reading in enumerate(readings):
        for narrower in (False, True) if reading.narrower else (False,):
            wide, narrow = (reading.rows, rows) if narrower else (rows, reading.rows)
            if not reading.decides or not same_rows(wide, narrow, ordered=False):
                continue
            sorts = reading.ordered and reading.ties is None
            if not sorts or same_rows(wide, narrow, ordered=True):
                return RowsMatch(True, place, narrower)
            if unordered.reading is None:
                unordered = RowsMatch(False, place, narrower)
    return unordered


def same_rows(rows: Sequence[Row], answer: Sequence[Row], *, ordered: bool) -> bool:
    """Whether some of the columns of ``rows``, in any order, hold the rows of ``answer``.

    Rows that occur several times count as often as they occur; but a result with the answer's
    number of columns may also leave repeats out, or have them where the answer has none.
    """
    if not rows or not answer:
        return not rows and not answer
    if len(rows) != len(answer):
        if ordered or len(rows[0]) != len(answer[0]):
            return False
        rows = _distinct(rows, len(rows))
        answer = _distinct(answer, len(rows))
    return len(rows) == len(answer) and _Columns(rows, answer, ordered).found(())


class _Columns:
    """Searches for the columns of a result that hold an answer."""

    def __init__(self, rows: Sequence[Row], answer: Sequence[Row], ordered: bool) -> None:
        self._rows, self._answer, self._ordered = rows, answer, ordered
        self._left = _TRIES  # a search that a hostile result makes endless ends as no match

    def found(self, chosen: tuple[int, ...]) -> bool:
        """Whether the chosen columns, which hold the answer's first ones, lead to all of them."""
        if len(chosen) == len(self._answer[0]):
            return True
        tried: list[list[JsonValue]] = []
        for column in range(len(self._rows[0])):
            values = [row[column] for row in self._rows]
            if column in chosen or values in tried:
                continue
            tried.append(values)
            self._left -= 1
            if self._left < 0:
                return False
            if self._holds((*chosen, column)) and self.found((*chosen, column)):
                return True
        return False

    def _holds(self, chosen: tuple[int, ...]) -> bool:
        part = [[row[column] for column in chosen] for row in self._rows]
        wanted = [row[: len(chosen)] for row in self._answer]
        if self._ordered:
            return all(map(_same_row, part, wanted))
        return _same_bag(part, wanted)


def _same_row(first: Row, second: Row) -> bool:
    return len(first) == len(second) and all(map(same_cell, first, second))


def _same_bag(first: Sequence[Row], second: Sequence[Row]) -> bool:
    left = list(first)
    for row in second:
        place = next((at for at, other in enumerate(left) if _same_row(other, row)), None)
        if place is None:
            return False
        del left[place]
    return not left


def _distinct(rows: Sequence[Row], most: int) -> list[Row]:
    """The rows, each once; of more than ``most`` only one more, since an answer may be long."""
    kept: list[Row] = []
    for row in rows:
        if len(kept) > most:
            break
        if not any(_same_row(row, other) for other in kept):
            kept.append(row)
    return kept


def same_cell(first: JsonValue, second: JsonValue) -> bool:
    """Whether two values are the same.

    Numbers may differ by a 100 000th part. A text that writes a number equals that number, since
    engines differ in what a year or a month is. A list is compared without its order, a node or
    relationship by its properties, and a property without a value like one that is missing.
    """
    if isinstance(first, str) and isinstance(second, str):
        return first == second
    numbers = _number(first), _number(second)
    if numbers[0] is not None and numbers[1] is not None:
        return math.isclose(numbers[0], numbers[1], rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    if isinstance(first, list) and isinstance(second, list):
        return _same_bag([[item] for item in first], [[item] for item in second])
    if isinstance(first, dict) and isinstance(second, dict):
        own, other = _properties(first), _properties(second)
        return own.keys() == other.keys() and all(same_cell(own[k], other[k]) for k in own)
    return first == second


def _number(value: JsonValue) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None
    return number if number is not None and math.isfinite(number) else None


def _properties(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """What a map holds; of a node or relationship, what its properties hold."""
    inner = value.get("properties")
    if isinstance(inner, dict) and value.keys() in (
        {"labels", "properties"},
        {"type", "properties"},
    ):
        value = inner
    return {name: item for name, item in value.items() if item is not None}
