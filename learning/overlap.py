"""How much of a successful path another path holds."""

from collections.abc import Sequence

from learning.paths import Path
from learning.slots import finishes


def overlap(found: Sequence[str], truth: Sequence[str]) -> float:
    """F1 between the different instructions of two paths.

    How often one comes plays no part: with slots in place of numbers, ``go to drawer`` comes as
    often as there are drawers to look into. Nor does the order, nor handing in the answer, which
    every path does.

    Returns:
        Between 0 and 1; 1 if neither has an instruction that counts.
    """
    one, other = _counted(found), _counted(truth)
    together = len(one) + len(other)
    return 2 * len(one & other) / together if together else 1.0


def shared(path: Path, instructions: Sequence[str]) -> float:
    """What instructions come to on a question: their overlap with the path that solved it."""
    return overlap(instructions, path.instructions)


def recall(found: Sequence[Sequence[str]], truth: Sequence[str]) -> float:
    """The share of a path's instructions that any of several paths holds; 1 if it has none."""
    wanted = _counted(truth)
    held = frozenset().union(*map(_counted, found))
    return len(wanted & held) / len(wanted) if wanted else 1.0


def _counted(path: Sequence[str]) -> frozenset[str]:
    return frozenset(instruction for instruction in path if not finishes(instruction))
