"""Engine values as plain cells, cut to the limits of a result."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time

from tools.database import Cell

_NODE = {"id", "labels", "properties"}
_RELATIONSHIP = {"id", "start", "end", "type", "properties"}
_PATH = {"nodes", "relationships"}
_SHORTEST = 40


@dataclass(frozen=True)
class Plain:
    """Converts values of the embedded engine: a node becomes its properties, a path a list.

    Attributes:
        virtual: Properties that the engine makes up.
        real: By label or type, the virtual names that really are properties of it.
        labels: All labels of the graph.
    """

    virtual: Sequence[str]
    real: Mapping[str, Sequence[str]]
    labels: Collection[str]

    def cell(self, value: object) -> Cell:
        """One value as a plain cell."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, date | time):  # a datetime is a date
            return value.isoformat()
        if isinstance(value, Mapping):
            return self._map(value)
        if isinstance(value, Iterable):
            return self._without_virtual([self.cell(item) for item in value])
        return str(value)

    def _map(self, value: Mapping[str, object]) -> Cell:
        keys = set(value)
        if keys == _PATH:
            return self._path(value)
        if keys in (_NODE, _RELATIONSHIP) and isinstance(value["properties"], Mapping):
            labels = value.get("labels")
            name = labels[0] if isinstance(labels, list) and labels else value.get("type")
            return self._properties(value["properties"], name)
        if keys >= set(self.virtual) and value["type"] in self.labels:
            return self._properties(value, value["type"])  # what properties(n) gives
        return {str(key): self.cell(item) for key, item in value.items()}

    def _properties(self, properties: Mapping[str, object], name: object) -> Cell:
        hidden = set(self.virtual) - set(self.real.get(str(name), ()))
        return {str(k): self.cell(item) for k, item in properties.items() if k not in hidden}

    def _path(self, value: Mapping[str, object]) -> Cell:
        """Node, relationship, node …, as they are passed."""
        nodes, relationships = value["nodes"], value["relationships"]
        if not isinstance(nodes, list) or not isinstance(relationships, list):
            return str(value)
        steps = [item for pair in zip(nodes, relationships, strict=False) for item in pair]
        return [self.cell(item) for item in [*steps, *nodes[len(relationships) :]]]

    def _without_virtual(self, items: list[Cell]) -> list[Cell]:
        """What ``keys(n)`` gives, without the names that no label has."""
        if not all(name in items for name in self.virtual):
            return items
        known = {name for names in self.real.values() for name in names}
        return [item for item in items if item not in self.virtual or item in known]


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
