"""Compares the rows of a query with those of accepted queries.

A result matches an accepted answer if some of its columns, in any order, hold the answer's rows.
Further columns are allowed, and missing ones if the answer permits it. The order of rows counts if
the accepted query sorts and no ties leave it open.
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
    """An accepted query and its results."""

    query: str
    rows: tuple[tuple[JsonValue, ...], ...]
    ordered: bool = False
    ties: Ties = None  # of sort keys; they leave open the order, or which rows are within the limit
    narrower: bool = False  # whether a result may lack some of its columns

    @property
    def decides(self) -> bool:
        """Whether its rows distinguish right from wrong."""
        return self.ties != "cut"


class RowsMatch(NamedTuple):
    """The comparison of a result with the accepted answers."""

    right: bool
    reading: int | None  # index of the first answer with these rows in any order
    narrower: bool = False  # whether the result lacks some of its columns


def match_rows(rows: Sequence[Row], readings: Sequence[AcceptedQuery]) -> RowsMatch:
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

    Repeated rows must occur equally often; but a result with the answer's number of columns may
    lack repeats, or add them.
    """
    if not rows or not answer:
        return not rows and not answer
    if len(rows) != len(answer):
        if ordered or len(rows[0]) != len(answer[0]):
            return False
        rows = _distinct_rows(rows, len(rows))
        answer = _distinct_rows(answer, len(rows))
    return len(rows) == len(answer) and _Columns(rows, answer, ordered).find(())


class _Columns:
    """Searches for the columns of a result that hold an answer."""

    def __init__(self, rows: Sequence[Row], answer: Sequence[Row], ordered: bool) -> None:
        self._rows, self._answer, self._ordered = rows, answer, ordered
        self._left = _TRIES  # bounds the search, which a hostile result could prolong

    def find(self, chosen: tuple[int, ...]) -> bool:
        """Whether the chosen columns, which match the first ones of the answer, extend to all."""
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
            if self._is_prefix((*chosen, column)) and self.find((*chosen, column)):
                return True
        return False

    def _is_prefix(self, chosen: tuple[int, ...]) -> bool:
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


def _distinct_rows(rows: Sequence[Row], most: int) -> list[Row]:
    """The distinct rows, at most ``most + 1`` of them, since an answer may be long."""
    kept: list[Row] = []
    for row in rows:
        if len(kept) > most:
            break
        if not any(_same_row(row, other) for other in kept):
            kept.append(row)
    return kept


def same_cell(first: JsonValue, second: JsonValue) -> bool:
    """Whether two values are the same.

    Numbers may differ by a factor of 1e-5. A number as text equals the number, since engines
    return years and months differently. Lists are compared without order, nodes and relationships
    by their properties. A property without a value equals a missing one.
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
    """The items of a map, or the properties of a node or relationship, without nulls."""
    inner = value.get("properties")
    if isinstance(inner, dict) and value.keys() in (
        {"labels", "properties"},
        {"type", "properties"},
    ):
        value = inner
    return {name: item for name, item in value.items() if item is not None}
