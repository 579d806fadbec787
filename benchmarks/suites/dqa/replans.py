"""What a re-planning changed in a plan (PlanRAG, appendix A.8): by fixed rules over its steps."""

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

Category: TypeAlias = Literal[
    "re-order",
    "replace",
    "change target",
    "add look-up",
    "add calculation",
    "add both actions",
    "divide to sub-steps",
    "others",
    "delete",
    "merge",
]
KINDS: tuple[Category, ...] = get_args(Category)

_LOOK_UP = "retrieve|identify|find|check|list|query|look|get|read|select|search|fetch|collect|join"
_CALCULATION = (
    "calculate|compute|compare|sum|multiply|subtract|divide|estimate|evaluate|rank|sort|determine"
)
_ACTION = re.compile(rf"\b(?:(?P<look_up>{_LOOK_UP})|(?P<calculation>{_CALCULATION}))", re.I)
_RELATED = 0.3
"""Share of common words from which on two steps are about the same thing."""


def category(before: Sequence[str], after: Sequence[str]) -> Category:
    """The category of a change of plan; the paper's people judged, these rules only read words.

    Steps that are in both plans are left aside. With as many steps as before it is a re-order
    if none is new, a change of target if every new step is about the same as one that is gone,
    else a replacement. With more steps, it is a division if two new steps are about the same as
    one that is gone, else it is named after the actions of the new steps. With fewer, it is a
    merge if a new step is about the same as two that are gone, else a deletion.
    """
    old, new = list(map(_words, before)), list(map(_words, after))
    gone = [words for words in old if words not in new]
    come = [words for words in new if words not in old]
    if len(after) == len(before):
        if not come:
            return "re-order"
        return "change target" if all(_related(words, gone) for words in come) else "replace"
    if len(after) < len(before):
        return "merge" if any(_related(words, gone) > 1 for words in come) else "delete"
    if any(_related(words, come) > 1 for words in gone):
        return "divide to sub-steps"
    return _added([step for step, words in zip(after, new, strict=True) if words not in old])


def _added(steps: Sequence[str]) -> Category:
    found = {match.lastgroup for step in steps if (match := _ACTION.search(step))}
    if found == {"look_up", "calculation"}:
        return "add both actions"
    if found == {"look_up"}:
        return "add look-up"
    return "add calculation" if found == {"calculation"} else "others"


def _related(words: frozenset[str], others: Sequence[frozenset[str]]) -> int:
    """How many of ``others`` are about the same as ``words``."""
    return sum(len(words & other) >= _RELATED * len(words | other) for other in others)


def _words(step: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", step.lower()))
