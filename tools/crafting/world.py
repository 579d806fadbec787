"""The rules of a crafting world: actions with their yields and needs.

Read from a folder of gzipped JSON lines: ``actions.jsonl.gz`` (``type``, ``output``,
``precondition``, ``tool_any``, ``from``), ``items.jsonl.gz`` (``name``, ``display``),
``goals.jsonl.gz`` (``item``), and ``smelting.json`` (``fuel_items_per_unit``). Tools do not wear
out. A block or animal that exists is found at once.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from planweave import BadInput
from planweave.records import read_text

CraftingKind: TypeAlias = Literal["mine", "hunt", "collect", "craft", "smelt"]
GATHERING: tuple[CraftingKind, ...] = ("mine", "hunt", "collect")
KINDS: tuple[CraftingKind, ...] = (*GATHERING, "craft", "smelt")
_FILES = ("actions.jsonl.gz", "items.jsonl.gz", "goals.jsonl.gz", "smelting.json")
_FIX = f"Give the folder with {', '.join(_FILES)}."


@dataclass(frozen=True, kw_only=True)
class CraftingAction:
    """An action that can be repeated.

    Attributes:
        count: The number of items each time.
        tools: At least one of these must be available; if empty, none is needed.
        source: The block or animal that it comes from, or an empty string.
    """

    kind: CraftingKind
    item: str
    count: int
    needs: Mapping[str, int] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class CraftingWorld:
    """All actions, everyday names of things, and the burning times of fuels."""

    actions: tuple[CraftingAction, ...]
    fuels: Mapping[str, float]
    displays: Mapping[str, str] = field(default_factory=dict)
    goals: tuple[str, ...] = ()

    @cached_property
    def yielding(self) -> dict[str, list[CraftingAction]]:
        """Actions by their products."""
        return _grouped((action.item, action) for action in self.actions)

    @cached_property
    def sources(self) -> dict[str, list[CraftingAction]]:
        """Actions by the block or animal that they need, and smelting by its input."""
        named = [(action.source, action) for action in self.actions if action.source]
        smelted = [(n, a) for a in self.actions if a.kind == "smelt" for n in a.needs]
        return _grouped([*named, *smelted])

    @cached_property
    def best(self) -> dict[str, tuple[int, CraftingAction]]:
        """The rank of everything that can be obtained from nothing, and its best-yielding action.

        An item's rank is the number of levels of other things that it needs first.
        """
        best: dict[str, tuple[int, CraftingAction]] = {}
        for rank in range(len(self.yielding) + 1):
            found: dict[str, tuple[int, CraftingAction]] = {}
            for action in self.actions:
                rival = found.get(action.item)
                better = rival is None or action.count > rival[1].count
                if action.item not in best and better and self._possible(action, best):
                    found[action.item] = (rank, action)
            if not found:
                break
            best |= found
        return best

    def _possible(
        self, action: CraftingAction, best: Mapping[str, tuple[int, CraftingAction]]
    ) -> bool:
        tools = not action.tools or any(tool in best for tool in action.tools)
        heat = action.kind != "smelt" or any(fuel in best for fuel in self.fuels)
        return tools and heat and all(name in best for name in action.needs)

    @cached_property
    def names(self) -> dict[str, str]:
        """Items, blocks and animals by every spelling, in lower case."""
        own = {name: name for name in (*self.displays, *self.yielding, *self.sources, *self.fuels)}
        shown = {display: name for name, display in self.displays.items() if display not in own}
        found: dict[str, str] = {}
        for words, name in (own | shown).items():  # two things may both be named "Map"
            found.setdefault(" ".join(re.findall(r"[a-z0-9]+", words.lower())), name)
        return found


def _grouped(pairs: Iterable[tuple[str, CraftingAction]]) -> dict[str, list[CraftingAction]]:
    found: dict[str, list[CraftingAction]] = {}
    for name, action in pairs:
        found.setdefault(name, []).append(action)
    return found


def load_world(folder: Path) -> CraftingWorld:
    """Read a world from a folder in the layout named above."""
    *tables, smelting = (read_text(folder / name, fix=_FIX) for name in _FILES)
    try:
        actions, items, goals = ([json.loads(row) for row in t.split("\n") if row] for t in tables)
        fuels = json.loads(smelting)["fuel_items_per_unit"]
        return CraftingWorld(
            actions=tuple(map(_action, actions)),
            fuels={str(name): float(units) for name, units in fuels.items()},
            displays={str(row["name"]): str(row["display"]) for row in items},
            goals=tuple(str(row["item"]) for row in goals),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{folder} holds no crafting world: {error!r} in a record.") from error


def _action(row: Mapping[str, object]) -> CraftingAction:
    kind, output, needs, tools = (row[k] for k in ("type", "output", "precondition", "tool_any"))
    if kind not in KINDS or not isinstance(output, dict) or not isinstance(needs, dict):
        raise ValueError(f"no action: {row}")
    if not isinstance(tools, list):
        raise TypeError(f"no tools: {row}")
    ((item, count),) = output.items()
    return CraftingAction(
        kind=kind,
        item=str(item),
        count=int(count),
        needs={str(name): int(many) for name, many in needs.items()},
        tools=tuple(map(str, tools)),
        source=str(row.get("from", "")),
    )
