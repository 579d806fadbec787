"""Reads plans as models write them: one ``STEP n: …`` per line, in words or a fixed form.

``STEP 2: Craft 4 oak planks from an oak log.``, ``STEP 2: craft(oak_planks, 4)``, ``STEP 2: craft
oak_planks x4`` and ``STEP 2: {"action": "craft", "item": "oak_planks", "count": 4}`` all mean the
same.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planweave.tools.crafting.world import GATHERING, KINDS, CraftingKind, CraftingWorld

_STEP = re.compile(r"^[\s*#>-]*step\s*(?:\d+[a-z]?\b)?\s*[*:.)\-]*\s*(.*)$", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*\d+\s*[.):]\s*(.*)$")
_WORD = re.compile(r"[a-z]+|\d+")
_VERBS: dict[str, tuple[CraftingKind, ...]] = {
    **dict.fromkeys(("mine", "dig", "chop", "cut", "break", "quarry", "punch", "fell"), GATHERING),
    **dict.fromkeys(("collect", "gather", "harvest", "pick", "shear", "milk", "fill"), GATHERING),
    **dict.fromkeys(("hunt", "kill", "slay", "fish", "catch", "fight", "defeat"), GATHERING),
    **dict.fromkeys(("craft", "make", "build", "create", "combine", "assemble"), ("craft",)),
    **dict.fromkeys(("smelt", "cook", "bake", "roast", "burn", "melt"), ("smelt",)),
    **dict.fromkeys(("obtain", "get", "acquire", "produce"), KINDS),
}
_NO_ACTION = {"place", "put", "equip", "hold", "use", "open", "go", "return", "find", "locate"}
_NO_ACTION |= {"search", "explore", "travel", "move", "wait", "set", "light", "add", "insert"}
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS = {"a": 1, "an": 1, **{word: number for number, word in enumerate(_NUMBERS, 1)}}
# Everyday words for several kinds of the world; the most common kind is meant.
_LOOSE = {
    "wood": "oak_log",
    "log": "oak_log",
    "tree": "oak_log",
    "plank": "oak_planks",
    "wooden plank": "oak_planks",
    "workbench": "crafting_table",
    "wool": "white_wool",
    "bed": "white_bed",
    "sapling": "oak_sapling",
}
_MOST = 100_000  # things in one step; a larger number is not a number of things


@dataclass(frozen=True, kw_only=True)
class CraftingStep:
    """One step of a plan.

    Attributes:
        kinds: The possible kinds of action; empty if unclear.
        item: What to obtain, mine, hunt or smelt; empty if it names nothing known.
        fuel: What to burn, if given.
        idle: Whether it only contains actions that do nothing here, such as placing something.
    """

    kinds: tuple[CraftingKind, ...]
    item: str
    count: int = 1
    fuel: str = ""
    idle: bool = False
    text: str = ""


class _Mention(NamedTuple):
    """A thing in a sentence, the number before or after it, and its position in words."""

    name: str
    many: int | None
    start: int
    end: int


def parse_plan(text: str, world: CraftingWorld) -> list[CraftingStep]:
    """The steps of a plan, in order; lines that are not steps are skipped.

    Lines that begin with ``STEP`` count; if there are none, lines that begin with a number do.
    """
    for pattern in (_STEP, _NUMBERED):
        found = [match[1] for line in text.splitlines() if (match := pattern.match(line))]
        if found:
            return [_step(line.strip(), world) for line in found]
    return []


def _step(text: str, world: CraftingWorld) -> CraftingStep:
    words = _WORD.findall(_to_words(text))
    place, kinds = _verb(words)
    if not kinds:
        return CraftingStep(kinds=(), item="", idle=not _NO_ACTION.isdisjoint(words), text=text)
    mentions = list(_find_mentions(words, place + 1, world))
    chosen = _find_object(mentions, kinds, world)
    if chosen is None:
        return CraftingStep(kinds=kinds, item="", text=text)
    count = chosen.many
    if count is None and kinds == ("smelt",):  # "smelt 3 iron ore into iron ingots"
        count = mentions[0].many
    fuel = _fuel(words, mentions, chosen, world) if "smelt" in kinds else ""
    count = min(max(count or 1, 1), _MOST)
    return CraftingStep(kinds=kinds, item=chosen.name, count=count, fuel=fuel, text=text)


def _to_words(text: str) -> str:
    """A JSON object as words; everything in lower case."""
    try:
        found = json.loads(text)
        burning = f"with {found['fuel']} as fuel" if found.get("fuel") else ""
        text = f"{found['action']} {found.get('count', 1)} {found['item']} {burning}"
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    return text.lower().replace("_", " ")


def _verb(words: Sequence[str]) -> tuple[int, tuple[CraftingKind, ...]]:
    for place, word in enumerate(words):
        noun = words[place + 1 : place + 2] == ["table"]
        base = word.removesuffix("ing")
        for form in (word, base, base + "e", base[:-1]):
            if form in _VERBS and not noun:
                return place, _VERBS[form]
    return len(words), ()


def _find_mentions(words: Sequence[str], start: int, world: CraftingWorld) -> Iterator[_Mention]:
    """The things named from ``start`` on; if several names begin at one word, the longest."""
    place = start
    while place < len(words):
        for end in range(min(len(words), place + 6), place, -1):
            if name := _thing(" ".join(words[place:end]), world):
                yield _Mention(name, _count(words, start, place, end), place, end)
                place = end
                break
        else:
            place += 1


def _thing(phrase: str, world: CraftingWorld) -> str:
    singular = re.sub(r"(?<=[^s])s$", "", phrase)
    for form in (phrase, singular, re.sub(r"es$", "", phrase), re.sub(r"ves$", "f", phrase)):
        if form in world.names:
            return world.names[form]
        if f"{form}s" in world.names:
            return world.names[f"{form}s"]
        if form in _LOOSE:
            return _LOOSE[form]
    log = re.sub(r" trees?$", " log", phrase)
    return world.names.get(log) or world.names.get(f"{phrase} ingot", "")


def _count(words: Sequence[str], start: int, place: int, end: int) -> int | None:
    """``3 logs``, ``3 x logs``, ``three blocks of logs``; ``log x 3``, ``log, 3``."""
    for back in range(place - 1, max(start, place - 4) - 1, -1):
        word = words[back]
        if word.isdigit() or word in _COUNTS:
            return _COUNTS.get(word) or int(word[:9])
        if word not in ("x", "of", "more", "block", "blocks", "piece", "pieces", "units", "raw"):
            break
    behind = words[end : end + 2]
    if behind[:1] == ["x"]:
        behind = behind[1:]
    elif behind[:1] and not behind[0].isdigit():
        return None
    return int(behind[0][:9]) if behind and behind[0].isdigit() else None


def _find_object(
    mentions: Sequence[_Mention], kinds: tuple[CraftingKind, ...], world: CraftingWorld
) -> _Mention | None:
    """The thing that the step is about: available in this way, or else a source of such a thing."""
    for known in (world.yielding, world.sources):
        for one in mentions:
            for name in _variants(one.name, kinds):
                if any(action.kind in kinds for action in known.get(name, [])):
                    return one._replace(name=name)
    return mentions[0] if mentions else None


def _variants(name: str, kinds: tuple[CraftingKind, ...]) -> tuple[str, ...]:
    """Variants of a name: to mine iron means its ore, to chop oak wood its log."""
    if kinds == GATHERING:
        return (name, name.replace("_ingot", "_ore"), name.replace("_wood", "_log"))
    return (name,)


def _fuel(
    words: Sequence[str], mentions: Sequence[_Mention], chosen: _Mention, world: CraftingWorld
) -> str:
    for one in mentions:
        before = words[max(0, one.start - 4) : one.start]
        named = "as" in words[one.end : one.end + 1] or {"with", "using", "burning"} & set(before)
        if one.name in world.fuels and one.name != chosen.name and named:
            return one.name
    return ""
