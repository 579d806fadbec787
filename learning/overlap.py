"""How much of a successful path another path holds."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from planweave.learning.paths import TaskPath
from planweave.learning.slots import finishes


def overlap(found: Sequence[str], truth: Sequence[str]) -> float:
    """F1 between the different instructions of two paths: what is measured, and comparable.

    How often one comes plays no part: with slots in place of numbers, ``go to drawer`` comes as
    often as there are drawers to look into. Nor does the order, nor handing in the answer, which
    every path does.
    """
    one, other = _counted(found), _counted(truth)
    together = len(one) + len(other)
    return 2 * len(one & other) / together if together else 1.0


def in_order(found: Sequence[str], truth: Sequence[str]) -> float:
    """The overlap of two paths as far as their instructions come in the same order.

    F1 by the longest common subsequence of each path's instructions, where each stands for the
    first time. Rewarded for the instructions alone, agents put a thing down before they take it.
    """
    one, other = _new(tuple(found)), _new(tuple(truth))
    together = len(one) + len(other)
    return 2 * _common(one, other) / together if together else 1.0


def shared(
    path: TaskPath, instructions: Sequence[str], forms: Mapping[str, str] = MappingProxyType({})
) -> float:
    """What instructions are worth on a question: their overlap, in order, with its path.

    Where they have no slots, their ``forms`` are compared: ``Search[Ed Wood]`` is in the path of
    no other question, ``Search[{1}]`` is.
    """
    return in_order(formed(instructions, forms), formed(path.instructions, forms))


def formed(instructions: Sequence[str], forms: Mapping[str, str]) -> tuple[str, ...]:
    """The instructions in their forms; one without a form stays."""
    return tuple(forms.get(text, text) for text in instructions)


def recall(found: Sequence[Sequence[str]], truth: Sequence[str]) -> float:
    """The share of a path's instructions that any of several paths holds; 1 if it has none."""
    wanted = _counted(truth)
    held = frozenset().union(*map(_counted, found))
    return len(wanted & held) / len(wanted) if wanted else 1.0


@lru_cache(maxsize=1 << 14)
def _new(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(instruction for instruction in path if not finishes(instruction)))


@lru_cache(maxsize=1 << 16)
def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """The length of the longest common subsequence."""
    lengths = [0] * (len(other) + 1)
    for instruction in one:
        before = 0
        for place, another in enumerate(other, start=1):
            alike = before + 1 if instruction == another else 0
            before = lengths[place]
            lengths[place] = max(alike, before, lengths[place - 1])
    return lengths[-1]


def _counted(path: Sequence[str]) -> frozenset[str]:
    return frozenset(instruction for instruction in path if not finishes(instruction))
