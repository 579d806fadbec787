"""Convert engine values to plain cells, and cut rows to the limits of a result."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from planweave.tools.database import Cell

_MIN_CELL_LENGTH = 40
"""Characters that a cell keeps at least when its row is shortened."""


def to_cell(value: object, convert: Callable[[object], object]) -> Cell:
    """A value of an engine as a plain cell.

    ``convert`` turns the engine's own types into lists, mappings and texts.
    """
    value = convert(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): to_cell(item, convert) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [to_cell(item, convert) for item in value]
    return str(value)


def path_items(nodes: Sequence[object], relationships: Sequence[object]) -> list[object]:
    """The items of a path in their order: node, relationship, node."""
    steps = [item for pair in zip(nodes, relationships, strict=False) for item in pair]
    return [*steps, *nodes[len(relationships) :]]


def cut_rows(rows: Sequence[Sequence[Cell]], characters: int) -> list[list[Cell]]:
    """The first rows that fit into ``characters``; at least the first row, shortened if needed."""
    kept: list[list[Cell]] = []
    left = characters
    for row in rows:
        left -= sum(len(_cell_text(cell)) for cell in row)
        if left < 0 and kept:
            break
        kept.append(list(row) if left >= 0 else _shorten_row(row, characters))
    return kept


def _shorten_row(row: Sequence[Cell], characters: int) -> list[Cell]:
    share = max(characters // max(len(row), 1), _MIN_CELL_LENGTH)
    texts = [(cell, _cell_text(cell)) for cell in row]
    return [cell if len(text) <= share else text[: share - 1] + "…" for cell, text in texts]


def _cell_text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
