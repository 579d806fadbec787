"""Tables of a report, and functions that make them from records."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

from planweave.benchmarks.core.metrics import Estimate, Groups, Spread, group_by
from planweave.benchmarks.core.record import Record

Cell: TypeAlias = str | int | float | Estimate | Spread | None
Cells: TypeAlias = Sequence[Cell]
Rows: TypeAlias = Iterator[tuple[Cell, ...]]
Params = ParamSpec("Params")
Source = TypeVar("Source")


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """Typed cells; the first columns name the row."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    note: str = ""


def table_of_rows(
    title: str, columns: str, note: str = ""
) -> Callable[[Callable[Params, Rows]], Callable[Params, ReportTable]]:
    """Make a function that yields rows return a table; ``columns`` are ``first | second``."""
    names = tuple(columns.split(" | "))

    def decorate(rows: Callable[Params, Rows]) -> Callable[Params, ReportTable]:
        @wraps(rows)
        def make_table(*args: Params.args, **kwargs: Params.kwargs) -> ReportTable:
            return ReportTable(title=title, columns=names, rows=[*rows(*args, **kwargs)], note=note)

        return make_table

    return decorate


def row_per_group(
    of: Callable[[Source], Iterable[Sequence[Any]]], title: str, columns: str, note: str = ""
) -> Callable[[Callable[[Sequence[Record]], Cells]], Callable[[Source], ReportTable]]:
    """Make a function that returns the cells of one row return a table with a row per group.

    ``of`` returns the cells that name each row, followed by its records. There is no row if the
    function returns no cells.
    """

    def decorate(row: Callable[[Sequence[Record]], Cells]) -> Callable[[Source], ReportTable]:
        @wraps(row)
        @table_of_rows(title, columns, note)
        def make_table(source: Source) -> Rows:
            for *names, own in of(source):
                if cells := row(own):
                    yield (*names, *cells)

        return make_table

    return decorate


def _group_items(groups: Groups) -> Iterable[tuple[str, Sequence[Record]]]:
    return groups.items()


row_per_method = partial(row_per_group, _group_items)
"""As :func:`row_per_group`, with a row for each method."""


def table_by_part(
    title: str,
    heads: str,
    part: Callable[[Record], tuple[Cell, ...]],
    cell: Callable[[list[Record]], Cell],
    *,
    note: str = "",
    order: Callable[[tuple[Cell, ...]], Any] | None = None,
) -> Callable[[Groups], ReportTable]:
    """A table with a row for each part of the records and a cell for each method.

    ``order`` is the sort key of the rows; without it, the rows keep the order of the records.
    """

    def make_table(groups: Groups) -> ReportTable:
        divisions = [group_by(own, part) for own in groups.values()]
        parts = dict.fromkeys(one for own in divisions for one in own)
        rows = [
            (*one, *(cell(own.get(one, [])) for own in divisions))
            for one in (sorted(parts, key=order) if order else parts)
        ]
        return ReportTable(
            title=title, columns=(*heads.split(" | "), *groups), rows=rows, note=note
        )

    return make_table


def cell_text(cell: Cell) -> str:
    """A cell as text: ``40.0% [21-63] (20)``, ``mean · median · p95``, or the plain value."""
    if cell is None:
        return "-"
    if isinstance(cell, Spread):
        return " · ".join(_number(value) for value in (cell.mean, cell.median, cell.p95))
    return _number(cell) if isinstance(cell, float) else str(cell)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
