"""Engine values as plain cells, cut to the limits of a result."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time

from planweave.tools.cypher.own import ELEMENT_AS_TEXT, plain_map
from planweave.tools.database import Cell

_NODE = {"id", "labels", "properties"}
_RELATIONSHIP = {"id", "start", "end", "type", "properties"}
_PATH = {"nodes", "relationships"}
_SHORTEST = 40


def plain(value: object) -> Cell:
    """A value of the embedded engine: a node becomes its properties, a path a list."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, Mapping):
        return _map(value)
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def has_element_as_text(cell: Cell) -> bool:
    """Whether a text holds what the engine makes of a node; it shows the engine's own number."""
    if isinstance(cell, str):
        return bool(ELEMENT_AS_TEXT.search(cell))
    items = cell.values() if isinstance(cell, dict) else cell if isinstance(cell, list) else ()
    return any(has_element_as_text(item) for item in items)


def _map(value: Mapping[str, object]) -> Cell:
    keys = set(value)
    if keys == _PATH:
        return _path(value)
    if keys in (_NODE, _RELATIONSHIP) and isinstance(value["properties"], Mapping):
        return _map(value["properties"])
    return {key: plain(item) for key, item in plain_map(value)}


def _path(value: Mapping[str, object]) -> Cell:
    """Node, relationship, node …, as they are passed."""
    nodes, relationships = value["nodes"], value["relationships"]
    if not isinstance(nodes, list) or not isinstance(relationships, list):
        return str(value)
    steps = [item for pair in zip(nodes, relationships, strict=False) for item in pair]
    return [plain(item) for item in [*steps, *nodes[len(relationships) :]]]


def cut(rows: Sequence[Sequence[Cell]], characters: int) -> list[list[Cell]]:
    """Keep the first rows that fit into ``characters``; the first row always stays, shortened."""
    kept: list[list[Cell]] = []
    left = characters
    for row in rows:
        left -= sum(_length(cell) for cell in row)
        if left < 0 and kept:
            break
        kept.append(list(row) if left >= 0 else _shortened(row, characters))
    return kept


def _length(cell: Cell) -> int:
    return len(cell) if isinstance(cell, str) else len(json.dumps(cell, ensure_ascii=False))


def _shortened(row: Sequence[Cell], characters: int) -> list[Cell]:
    share = max(characters // max(len(row), 1), _SHORTEST)
    return [_short(cell, share) if _length(cell) > share else cell for cell in row]


def _short(cell: Cell, length: int) -> str:
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return text[: length - 1] + "…"
