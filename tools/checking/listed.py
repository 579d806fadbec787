"""Counts and ranks over the values that facts from documents list: no calculator is needed."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from planweave.memory import Fact
from planweave.tools.checking.words import conditions, numbers_of, roots, superlatives, tokens

_SMALL = tokens("no one two three four five six seven eight nine ten eleven twelve")
_COUNT = re.compile(
    rf"\b(?:(?P<word>{'|'.join(_SMALL)})|(?P<figures>\d{{1,3}}))\s+(?:(?P<of>of)\b|[a-z]{{3,}})",
    re.IGNORECASE,
)
_SHARED = frozenset(tokens("tie tied ties equal equally same both each all share shares shared"))
_VALUE = re.compile(r"(-?\d+(?:\.\d+)?)\s*(.*)")


class Listed(NamedTuple):
    """A value that a fact lists."""

    name: str
    number: float
    unit: str


class Count(NamedTuple):
    """A count in a claim: its figures if it has any, and what is wrong with it, if anything."""

    figures: str
    problem: str


def listed(facts: Sequence[Fact]) -> list[Listed]:
    """The values of facts from documents, under the names that they have there."""
    found = []
    for fact in facts:
        for name, value in fact["values"].items() if fact["quote"] else ():
            match = None if isinstance(value, bool) else _VALUE.fullmatch(str(value))
            if match:
                found.append(Listed(name, float(match[1]), match[2]))
    return found


def counted(claim: str, facts: Sequence[Fact]) -> Count | None:
    """The count of a claim of things that keep a bound, as in "3 of the years exceed 5 %".

    The things are the values of the facts with the unit of the bound. None where there is no such
    count, or nothing to count; one that does not say "of" may speak of other things, so that
    nothing is wrong with it.
    """
    bounds = conditions(claim)
    if len(bounds) != 1:
        return None
    begin = claim.index(bounds[0].text)
    end = begin + len(bounds[0].text)
    match = _COUNT.search(f"{claim[:begin]}{' ' * (end - begin)}{claim[end:]}")
    values = listed(facts)
    beside = claim[begin : end + 12]
    units = {value.unit for value in values if value.unit and value.unit in beside}
    things = [value.number for value in values if value.unit in (units or {""})]
    if match is None or len(things) < 2:
        return None
    said = _SMALL.index(match["word"].lower()) if match["word"] else int(match["figures"])
    kept = sum(map(bounds[0].holds, things))
    if said == kept:
        return Count(match["figures"] or "", "")
    problem = f"of the {len(things)} values that the facts list, {kept} are {bounds[0].text}"
    return Count("", problem) if match["of"] else None


def comes_first(claim: str, facts: Sequence[Fact]) -> bool:
    """Whether the value that a superlative of a claim asks for is in it, by the facts' values."""
    return bool(_first(claim, facts))


def tied(claim: str, facts: Sequence[Fact]) -> str:
    """What a claim leaves out that names the first of several values that share the first place."""
    sharing = list(dict.fromkeys(value.name for value in _first(claim, facts)))
    said = frozenset(tokens(claim))
    named = [name for name in sharing if roots(name.replace("_", " ")) <= roots(claim)]
    if len(sharing) < 2 or said & _SHARED or len(named) != 1:
        return ""
    others = ", ".join(name.replace("_", " ") for name in sharing if name not in named)
    return f"it shares the first place with {others}"


def _first(claim: str, facts: Sequence[Fact]) -> list[Listed]:
    """The values that come first by the superlative of a claim, if their number is in it."""
    senses = {sense for one in superlatives(claim) if one.place == 1 for sense, _ in one.senses}
    values = listed(facts)
    if len(senses) != 1 or len({value.unit for value in values}) != 1 or len(values) < 2:
        return []
    best = (max if "highest" in senses else min)(value.number for value in values)
    if best not in numbers_of(claim):
        return []
    return [value for value in values if value.number == best]
