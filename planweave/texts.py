"""Texts that are cut, and lists that are shown in part: always marked, so that nobody is misled."""

import hashlib
import re
from collections.abc import Iterable

MORE = "…"
"""Stands where something was left out."""

_LONGEST_WORD = 40
_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_COUNTS = {word: count for count, word in enumerate(_WORDS.split(), 1)}
COUNT = rf"\d{{1,3}}|{'|'.join(_COUNTS)}"
"""Pattern of a number in digits or in words."""


def digest(text: str, length: int = 16) -> str:
    """Hexadecimal digits that stand for a text, of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:length]


def shorten(text: str, length: int) -> str:
    """Cut ``text`` to ``length`` characters, at the end of a word; ``…`` shows that it was cut.

    A word that is longer than usual, as in texts without blanks, is cut within.
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
    """The number that a text matched by ``COUNT`` stands for."""
    return _COUNTS.get(text.lower()) or int(text)


def listed(names: Iterable[str], most: int) -> str:
    """The names with commas; of many the first ``most``, and how many more there are."""
    known = list(names)
    left = len(known) - most
    shown = ", ".join(known[:most] if left > 0 else known)
    return f"{shown} and {left:,} more" if left > 0 else shown


def without_gaps(text: str) -> str:
    """The text without empty lines."""
    return re.sub(r"\n{2,}", "\n", text)
