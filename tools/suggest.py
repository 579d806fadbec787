"""Nearest names, for hints such as "did you mean …"."""

from collections.abc import Iterable
from difflib import SequenceMatcher

_CLOSE = 0.6
_INSIDE = 0.7  # score of a name that contains the other: better than a mere resemblance


def nearest(
    name: str, candidates: Iterable[str], n: int = 3, *, close: float = _CLOSE
) -> tuple[str, ...]:
    """Return the candidates that resemble ``name``, best first.

    Letter case and underscores do not count; a candidate that contains the name, or is contained
    in it (``country`` and ``country_name``), resembles it too.

    Args:
        name: What was written.
        candidates: What exists; repeated candidates are taken once.
        n: At most so many are returned.
        close: The least resemblance, from 0 to 1.
    """
    scored = [(_resemblance(name, candidate), candidate) for candidate in dict.fromkeys(candidates)]
    found = sorted((pair for pair in scored if pair[0] >= close), key=lambda pair: -pair[0])
    return tuple(candidate for _, candidate in found[:n])


def _resemblance(name: str, candidate: str) -> float:
    """A number in [0, 1]; 1 for names that differ only in case and underscores."""
    left, right = _plain(name), _plain(candidate)
    if left == right:
        return 1.0
    matcher = SequenceMatcher(None, left, right)
    # Two cheap upper bounds come first: values are compared by the thousand.
    is_far = matcher.real_quick_ratio() < _CLOSE or matcher.quick_ratio() < _CLOSE
    ratio = 0.0 if is_far else matcher.ratio()
    short, long = sorted((left, right), key=len)
    if len(short) >= 3 and short in long:
        return max(ratio, _INSIDE + 0.2 * len(short) / len(long))
    return ratio


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "")


def shared_start(one: str, other: str) -> int:
    """How many letters two words have in common from the first on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
