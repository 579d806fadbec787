"""How much of a successful path another path contains."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from planweave.learning.paths import TaskPath
from planweave.learning.slots import is_final_answer


def overlap(found: Sequence[str], truth: Sequence[str]) -> float:
    """F1 between the distinct instructions of two paths; this is the reported measure.

    Repetition does not count: with slots instead of numbers, ``go to drawer`` occurs once for each
    drawer. Order does not count either, nor does submitting the answer, which every path does.
    """
    one, other = _counted_instructions(found), _counted_instructions(truth)
    together = len(one) + len(other)
    return 2 * len(one & other) / together if together else 1.0


def ordered_overlap(found: Sequence[str], truth: Sequence[str]) -> float:
    """The overlap of two paths with their instructions in the same order.

    F1 by the longest common subsequence of the first occurrences of the instructions. With a
    reward that ignores order, agents put a thing down before they take it.
    """
    one, other = _distinct(tuple(found)), _distinct(tuple(truth))
    together = len(one) + len(other)
    return 2 * _common_length(one, other) / together if together else 1.0


def reward_by_overlap(
    path: TaskPath, instructions: Sequence[str], forms: Mapping[str, str] = MappingProxyType({})
) -> float:
    """The reward of instructions for a question: their ordered overlap with its path.

    ``forms`` maps instructions without slots to those with slots, which are compared instead:
    other paths contain ``Search[{1}]``, but not ``Search[Ed Wood]``.
    """
    return ordered_overlap(apply_forms(instructions, forms), apply_forms(path.instructions, forms))


def apply_forms(instructions: Sequence[str], forms: Mapping[str, str]) -> tuple[str, ...]:
    """Replace the instructions by their forms; one without a form stays."""
    return tuple(forms.get(text, text) for text in instructions)


def recall(found: Sequence[Sequence[str]], truth: Sequence[str]) -> float:
    """The share of a path's instructions that are in any of several paths; 1 if it has none."""
    wanted = _counted_instructions(truth)
    held = frozenset().union(*map(_counted_instructions, found))
    return len(wanted & held) / len(wanted) if wanted else 1.0


@lru_cache(maxsize=1 << 14)
def _distinct(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(instruction for instruction in path if not is_final_answer(instruction))
    )


@lru_cache(maxsize=1 << 16)
def _common_length(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """The length of the longest common subsequence."""
    lengths = [0] * (len(other) + 1)
    for instruction in one:
        before = 0
        for place, another in enumerate(other, start=1):
            alike = before + 1 if instruction == another else 0
            before = lengths[place]
            lengths[place] = max(alike, before, lengths[place - 1])
    return lengths[-1]


def _counted_instructions(path: Sequence[str]) -> frozenset[str]:
    return frozenset(instruction for instruction in path if not is_final_answer(instruction))
