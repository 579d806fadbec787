"""Invented, pronounceable names for generated worlds."""

import random

_ONSETS = (
    *("b", "br", "d", "dr", "f", "g", "gr", "h", "k", "kl", "l"),
    *("m", "n", "p", "r", "s", "sk", "st", "t", "tr", "v", "z"),
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ou")
_CODAS = ("", "", "", "l", "n", "r", "s")


def invent(count: int, rng: random.Random) -> list[str]:
    """Invent ``count`` different names in lower case, sorted; longer ones if ``count`` is large."""
    names: set[str] = set()
    while len(names) < count:
        syllables = 2 + (len(names) > 2_000) + (rng.random() < 0.5)
        names.add("".join(map(_syllable, [rng] * syllables)))
    return sorted(names)


def _syllable(rng: random.Random) -> str:
    return rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)
