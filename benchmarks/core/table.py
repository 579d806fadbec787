"""A table of a report, before it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from planweave.benchmarks.core.metrics import Rate, Spread

Cell: TypeAlias = str | int | float | Rate | Spread | None


@dataclass(frozen=True, kw_only=True)
class Table:
    """Typed cells; the first columns name the row.

    Attributes:
        rows: The cells; None where there is nothing to say.
        note: How to read it, or how it was computed.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    note: str = ""


def text(cell: Cell) -> str:
    """A cell as text: ``40 % [21-63] (20)``, ``mean · median · p95``, or the plain value."""
    if cell is None:
        return "-"
    if isinstance(cell, Rate):
        return f"{cell.value:.1%} [{cell.low * 100:.0f}-{cell.high * 100:.0f}] ({cell.n})"
    if isinstance(cell, Spread):
        return " · ".join(_number(value) for value in (cell.mean, cell.median, cell.p95))
    return _number(cell) if isinstance(cell, float) else str(cell)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
