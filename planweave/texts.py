"""Shortens texts and lists; cuts are always marked, so that they mislead nobody."""

import hashlib
import re
from collections.abc import Iterable

MORE = "…"
"""Marks an omission."""

_LONGEST_WORD = 40
_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_COUNTS = {word: count for count, word in enumerate(_WORDS.split(), 1)}
COUNT = rf"\d{{1,3}}|{'|'.join(_COUNTS)}"
"""Pattern of a number in digits or in words."""


def digest(text: str, length: int = 16) -> str:
    """The first hexadecimal digits of a text's SHA-256, as its short identifier."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:length]


def shorten(text: str, length: int) -> str:
    """Cut ``text`` to ``length`` characters at the end of a word; ``…`` marks the cut.

    Unusually long words, as in texts without blanks, are cut inside.
    """
    if len(text) <= length:
        return text
    kept = text[: max(length - len(MORE), 0)]
    if text[len(kept)].isspace():
        return kept.rstrip() + MORE
    begin = max(kept.rfind(blank) for blank in " \n\t")
    if begin > 0 and len(kept) - begin <= _LONGEST_WORD:
        kept = kept[:begin]
    return kept.rstrip() + MORE


def count_of(text: str) -> int:
    """The value of a number that ``COUNT`` has matched."""
    return _COUNTS.get(text.lower()) or int(text)


def listed(names: Iterable[str], most: int) -> str:
    """The names with commas; of a long list the first ``most``, and the number of the others."""
    known = list(names)
    left = len(known) - most
    shown = ", ".join(known[:most] if left > 0 else known)
    return f"{shown} and {left:,} more" if left > 0 else shown


def without_gaps(text: str) -> str:
    """The text without empty lines."""
    return re.sub(r"\n{2,}", "\n", text)


def without_surrogates(text: str) -> str:
    """Replace each character that UTF-8 cannot encode (a lone surrogate) by a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
