"""Values of any driver as plain cells."""

from datetime import date, datetime, time
from decimal import Decimal
from math import isinf

from planweave.texts import shorten
from planweave.tools.database import Cell

_LONGEST_EXACT = 2**63


def to_cell(value: object, characters: int) -> Cell:
    """Turn a driver's value into a plain one.

    Numbers stay numbers, dates become ISO text, binary data its size, and long text is cut to
    ``characters``.
    """
    match value:
        case None | bool() | int() | float():
            cell: Cell = value
        case Decimal():
            cell = _number(value, characters)
        case datetime():
            cell = value.isoformat(" ")
        case date() | time():
            cell = value.isoformat()
        case bytes() | bytearray() | memoryview():
            cell = f"<{len(bytes(value))} bytes>"
        case list() | tuple():
            cell = [to_cell(item, characters) for item in value]
        case dict():
            cell = {str(key): to_cell(item, characters) for key, item in value.items()}
        case _:
            cell = shorten(str(value), characters)
    return cell


def _number(value: Decimal, characters: int) -> int | float | str:
    if value.is_finite() and abs(value) < _LONGEST_EXACT and value == int(value):
        return int(value)
    number = float(value)
    if isinf(number) and value.is_finite():  # too large for a float
        return shorten(str(value), characters)
    return number
