"""Engine values as plain cells, cut to the limits of a result."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time

from tools.database import Cell

_NODE = {"id", "labels", "properties"}
_RELATIONSHIP = {"id", "start", "end", "type", "properties"}
_PATH = {"nodes", "relationships"}
_SHORTEST = 40


def plain(value: object, real: Mapping[str, Sequence[str]], virtual: Sequence[str]) -> Cell:
    """Convert a value of the embedded engine: a node becomes its properties, a path a list.

    Args:
        value: What the engine returned.
        real: By label or type, the virtual names that really are properties of it.
        virtual: Properties that the engine makes up.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, date | time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, Mapping):
        return _plain_map(value, real, virtual)
    if isinstance(value, Iterable):
        return _plain_keys([plain(item, real, virtual) for item in value], real, virtual)
    return str(value)


def _plain_map(
    value: Mapping[str, object], real: Mapping[str, Sequence[str]], virtual: Sequence[str]
) -> Cell:
    keys = set(value)
    if keys == _PATH:
        return _path(value, real, virtual)
    owner = value
    if keys in (_NODE, _RELATIONSHIP) and isinstance(value["properties"], Mapping):
        labels = value.get("labels")
        name = labels[0] if isinstance(labels, list) and labels else value.get("type")
        owner = value["properties"]
    elif keys >= set(virtual):
        name = value["type"]  # what properties(n) gives: the type is the label
    else:
        name = None
    hidden = {v for v in virtual if v not in real.get(str(name), ())} if name is not None else ()
    return {
        str(key): plain(item, real, virtual) for key, item in owner.items() if key not in hidden
    }


def _path(
    value: Mapping[str, object], real: Mapping[str, Sequence[str]], virtual: Sequence[str]
) -> Cell:
    """Node, relationship, node …, as they are passed."""
    nodes, relationships = value["nodes"], value["relationships"]
    if not isinstance(nodes, list) or not isinstance(relationships, list):
        return str(value)
    steps = [item for pair in zip(nodes, relationships, strict=False) for item in pair]
    return [plain(item, real, virtual) for item in [*steps, *nodes[len(relationships) :]]]


def _plain_keys(
    items: list[Cell], real: Mapping[str, Sequence[str]], virtual: Sequence[str]
) -> list[Cell]:
    """What ``keys(n)`` gives, without the names that no label has."""
    if not all(name in items for name in virtual):
        return items
    known = {name for names in real.values() for name in names}
    return [item for item in items if item not in virtual or item in known]


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
