"""Similar names, for hints such as "did you mean …"."""

from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher

_CLOSE = 0.6
_FAINT = 0.3  # least similarity of a value that a hint names
_ALL, _SOME = 8, 5  # number of values up to which a hint names all; number that it names otherwise
_INSIDE = 0.7  # least score of a name that contains the other


def nearest(
    name: str, candidates: Iterable[str], n: int = 3, *, close: float = _CLOSE
) -> tuple[str, ...]:
    """The ``n`` distinct candidates that are most similar to ``name``, best first.

    Letter case and underscores do not count. A candidate that contains the name, or is contained
    in it (``country`` and ``country_name``), is similar, too. ``close`` is the least similarity,
    from 0 to 1.
    """
    distinct = dict.fromkeys(candidates)
    scored = [(_similarity(name, candidate, close), candidate) for candidate in distinct]
    found = sorted((pair for pair in scored if pair[0] >= close), key=lambda pair: -pair[0])
    return tuple(candidate for _, candidate in found[:n])


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence such as "There is no x": a suggestion, or a full stop."""
    near = nearest(name, known)
    return f"; did you mean {' or '.join(near)}?" if near else "."


def values_near(
    wanted: str, values: Sequence[str], *, every: bool = True, shown: Callable[[str], str] = repr
) -> str:
    """Describe the values of a column: their number, and the nearest ones, or all if they are few.

    If ``values`` are not ``every`` value, the number is "more than" theirs.
    """
    count = f"{len(values):,}" if every else f"more than {len(values):,}"
    if not values:
        return "it holds no values"
    close = nearest(wanted, values, _SOME, close=_FAINT)
    if len(values) <= _ALL and every:
        values = [*close, *(value for value in values if value not in close)]
        noun = "its only value is" if len(values) == 1 else f"its {count} values are"
        return f"{noun} {', '.join(map(shown, values))}"
    if close:
        return f"of its {count} values the nearest are {', '.join(map(shown, close))}"
    return f"it has {count} values, such as {', '.join(map(shown, values[:_SOME]))}"


def _similarity(name: str, candidate: str, close: float) -> float:
    """The similarity from 0 to 1; 1 for names that differ only in case and underscores."""
    left, right = _plain(name), _plain(candidate)
    if left == right:
        return 1.0
    matcher = SequenceMatcher(None, left, right)
    # Two cheap upper bounds come first, since there may be thousands of values.
    is_far = matcher.real_quick_ratio() < close or matcher.quick_ratio() < close
    ratio = 0.0 if is_far else matcher.ratio()
    short, long = sorted((left, right), key=len)
    if len(short) >= 3 and short in long:
        return max(ratio, _INSIDE + 0.2 * len(short) / len(long))
    return ratio


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "")


def shared_start(one: str, other: str) -> int:
    """The number of letters at the start that two words share."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
