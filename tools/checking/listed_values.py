"""Checks counts and ranks on the values that facts from documents list, without a calculator."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from planweave.memory import Fact
from planweave.tools.checking.words import (
    find_bounds,
    find_numbers,
    find_superlatives,
    roots,
    tokens,
)

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
    """A count in a claim: its digits if it has any, and its problem if it is wrong."""

    figures: str
    problem: str


def find_listed_values(facts: Sequence[Fact]) -> list[Listed]:
    """Find the values of facts from documents and their names."""
    found = []
    for fact in facts:
        for name, value in fact["values"].items() if fact["quote"] else ():
            match = None if isinstance(value, bool) else _VALUE.fullmatch(str(value))
            if match:
                found.append(Listed(name, float(match[1]), match[2]))
    return found


def check_count(claim: str, facts: Sequence[Fact]) -> Count | None:
    """Check a claim's count of things that meet a bound, as in "3 of the years exceed 5 %".

    The things are the values of the facts with the unit of the bound. None if there is no such
    count or nothing to count. A count without "of" may refer to other things, so it has no problem.
    """
    bounds = find_bounds(claim)
    if len(bounds) != 1:
        return None
    begin = claim.index(bounds[0].text)
    end = begin + len(bounds[0].text)
    match = _COUNT.search(f"{claim[:begin]}{' ' * (end - begin)}{claim[end:]}")
    values = find_listed_values(facts)
    nearby = claim[begin : end + 12]
    units = {value.unit for value in values if value.unit and value.unit in nearby}
    things = [value.number for value in values if value.unit in (units or {""})]
    if match is None or len(things) < 2:
        return None
    claimed = _SMALL.index(match["word"].lower()) if match["word"] else int(match["figures"])
    right = sum(map(bounds[0].is_met_by, things))
    if claimed == right:
        return Count(match["figures"] or "", "")
    problem = f"of the {len(things)} values that the facts list, {right} are {bounds[0].text}"
    return Count("", problem) if match["of"] else None


def has_first_value(claim: str, facts: Sequence[Fact]) -> bool:
    """Whether a claim with a superlative contains the first of the facts' values."""
    return bool(_find_first(claim, facts))


def find_tie(claim: str, facts: Sequence[Fact]) -> str:
    """The values that share the first place and that a claim does not mention; empty if none."""
    sharing = list(dict.fromkeys(value.name for value in _find_first(claim, facts)))
    named = [name for name in sharing if roots(name.replace("_", " ")) <= roots(claim)]
    if len(sharing) < 2 or not _SHARED.isdisjoint(tokens(claim)) or len(named) != 1:
        return ""
    others = ", ".join(name.replace("_", " ") for name in sharing if name not in named)
    return f"it shares the first place with {others}"


def _find_first(claim: str, facts: Sequence[Fact]) -> list[Listed]:
    """The values in the first place by the superlative of a claim, if it contains their number."""
    senses = {
        sense for one in find_superlatives(claim) if one.place == 1 for sense, _ in one.senses
    }
    values = find_listed_values(facts)
    if len(senses) != 1 or len({value.unit for value in values}) != 1 or len(values) < 2:
        return []
    best = (max if "highest" in senses else min)(value.number for value in values)
    if best not in find_numbers(claim):
        return []
    return [value for value in values if value.number == best]
