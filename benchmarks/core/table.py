"""A table of a report, before it is drawn."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

from planweave.benchmarks.core.metrics import Estimate, Groups, Spread, divided
from planweave.benchmarks.core.record import Record

Cell: TypeAlias = str | int | float | Estimate | Spread | None
Cells: TypeAlias = Sequence[Cell]
Rows: TypeAlias = Iterator[tuple[Cell, ...]]
Given = ParamSpec("Given")
Source = TypeVar("Source")


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """Typed cells; the first columns name the row."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    note: str = ""


def tabled(
    title: str, columns: str, note: str = ""
) -> Callable[[Callable[Given, Rows]], Callable[Given, ReportTable]]:
    """Make a function that yields rows return their table; ``columns`` as ``first | second``."""
    names = tuple(columns.split(" | "))

    def decorated(rows: Callable[Given, Rows]) -> Callable[Given, ReportTable]:
        @wraps(rows)
        def made(*args: Given.args, **kwargs: Given.kwargs) -> ReportTable:
            return ReportTable(title=title, columns=names, rows=[*rows(*args, **kwargs)], note=note)

        return made

    return decorated


def each(
    of: Callable[[Source], Iterable[Sequence[Any]]], title: str, columns: str, note: str = ""
) -> Callable[[Callable[[Sequence[Record]], Cells]], Callable[[Source], ReportTable]]:
    """Make a function from records to the cells of a row return the table of all rows.

    ``of`` gives the cells that name each row, and its records last; where the function returns no
    cells there is no row.
    """

    def decorated(row: Callable[[Sequence[Record]], Cells]) -> Callable[[Source], ReportTable]:
        @wraps(row)
        def made(source: Source) -> ReportTable:
            rows = [(*names, *cells) for *names, own in of(source) if (cells := row(own))]
            return ReportTable(
                title=title, columns=tuple(columns.split(" | ")), rows=rows, note=note
            )

        return made

    return decorated


def _methods(groups: Groups) -> Iterable[tuple[str, Sequence[Record]]]:
    return groups.items()


by_method = partial(each, _methods)
"""As :func:`each`: a row for each method, behind its name."""


def by_part(
    title: str,
    heads: str,
    part: Callable[[Record], tuple[Cell, ...]],
    cell: Callable[[list[Record]], Cell],
    *,
    note: str = "",
    order: Callable[[tuple[Cell, ...]], Any] | None = None,
) -> Callable[[Groups], ReportTable]:
    """A row for each part of the records, by ``order`` or as they come; a cell for each method."""

    def made(groups: Groups) -> ReportTable:
        divisions = [divided(own, part) for own in groups.values()]
        parts = dict.fromkeys(one for own in divisions for one in own)
        rows = [
            (*one, *(cell(own.get(one, [])) for own in divisions))
            for one in (sorted(parts, key=order) if order else parts)
        ]
        return ReportTable(
            title=title, columns=(*heads.split(" | "), *groups), rows=rows, note=note
        )

    return made


def text(cell: Cell) -> str:
    """A cell as text: ``40.0% [21-63] (20)``, ``mean · median · p95``, or the plain value."""
    if cell is None:
        return "-"
    if isinstance(cell, Spread):
        return " · ".join(_number(value) for value in (cell.mean, cell.median, cell.p95))
    return _number(cell) if isinstance(cell, float) else str(cell)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
