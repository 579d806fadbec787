"""How much of a successful path another path holds."""

from collections import Counter
from collections.abc import Sequence

from learning.slots import finishes


def overlap(found: Sequence[str], truth: Sequence[str]) -> float:
    """F1 between the instructions of two paths, each counted as often as it comes.

    Order plays no part, and handing in the answer does not count: every path does that.

    Returns:
        Between 0 and 1; 1 if neither has an instruction that counts.
    """
    one, other = _counted(found), _counted(truth)
    together = one.total() + other.total()
    return 2 * (one & other).total() / together if together else 1.0


def recall(found: Sequence[Sequence[str]], truth: Sequence[str]) -> float:
    """The share of a path's instructions that any of several paths holds; 1 if it has none."""
    wanted, held = _counted(truth), Counter[str]()
    for path in found:
        held |= _counted(path)
    return (wanted & held).total() / wanted.total() if wanted else 1.0


def _counted(path: Sequence[str]) -> Counter[str]:
    return Counter(instruction for instruction in path if not finishes(instruction))
