"""What a question's words that are missing in a database say about its answer.

A database that has no word for "email" or "why" can hardly ever answer a question with it; one
without "than" or "altogether" often can. The weights come from counts in questions with and without
an answer. The result is a list of words with whole weights, which a person can read and change.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

SHIPPED_FILE = Path(__file__).parent / "artefacts" / "question-words.json"
MAX_WEIGHT = 2
_LEAST_COUNT = 3
"""Questions that must have a word before it is listed."""
_PRIOR = 8
"""Questions of both kinds that are added to the counts of each word: low counts weigh little."""
_GRAMMAR = frozenset(
    [
        "about",
        "across",
        "against",
        "alone",
        "already",
        "behind",
        "can",
        "could",
        "doe",
        "down",
        "every",
        "from",
        "he",
        "her",
        "him",
        "his",
        "i",
        "in",
        "it",
        "its",
        "me",
        "my",
        "of",
        "off",
        "on",
        "our",
        "out",
        "over",
        "she",
        "their",
        "they",
        "through",
        "to",
        "up",
        "us",
        "we",
        "where",
        "who",
        "whom",
        "whose",
        "will",
        "would",
        "you",
        "your",
    ]
)
"""Words that say nothing about data: they never count against an answer."""
_MAX_UNLISTED = 2
"""The most unlisted words that count: more are probably names or another language."""
_LOG_ODDS = 0.4
"""What a weight of 1 takes from the logarithm of the odds of an answer."""

Weights: TypeAlias = Mapping[str, int]
"""Weights by the singular: positive for words that speak against an answer."""


def learn_weights(questions: Iterable[tuple[Collection[str], bool]]) -> dict[str, int]:
    """Learn weights from questions: the singulars of missing words, and whether there is an answer.

    A weight is the rounded logarithm of how much more often a word is missing in questions without
    an answer than in those with one, from -2 to 2.
    """
    words: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    asked: Counter[bool] = Counter()
    for missing, answerable in questions:
        asked[answerable] += 1
        words[answerable].update(set(missing))

    def share(word: str, answerable: bool) -> float:
        return words[answerable][word] / asked[answerable] + _PRIOR / asked.total()

    counts = words[True] + words[False]
    found = {
        word: round(math.log(share(word, False) / share(word, True)))
        for word, count in sorted(counts.items())
        if count >= _LEAST_COUNT
    }
    most = {word: 0 if word in _GRAMMAR else MAX_WEIGHT for word in found}
    return {word: max(-MAX_WEIGHT, min(most[word], one)) for word, one in found.items()}


def correct_chance(
    chance: float, missing: Collection[str], weights: Weights | None = None
) -> float:
    """Correct the chance of an answer, from 0 to 1, by the missing words (their singulars).

    Harmless words raise it. It stays if most words are not listed, as in another language.
    """
    weights = shipped_weights() if weights is None else weights
    listed = [weights[word] for word in missing if word in weights]
    unlisted = len(missing) - len(listed)
    if unlisted > len(listed) or not 0 < chance < 1:
        return chance
    doubt = sum(listed) + min(unlisted, _MAX_UNLISTED)
    return 1 / (1 + math.exp(_LOG_ODDS * doubt) * (1 - chance) / chance)


def find_suspicious_words(missing: Mapping[str, str], weights: Weights | None = None) -> list[str]:
    """Find the missing words (by singular) that speak against an answer, the weightiest first."""
    weights = shipped_weights() if weights is None else weights
    found = [one for one in missing if weights.get(one, 1) > 0]
    return [missing[one] for one in sorted(found, key=lambda one: -weights.get(one, 1))]


def write_weights(file: Path, weights: Weights, made: str) -> None:
    """Write weights as lists of words by weight, with a line that says how they were ``made``."""
    words = {
        str(weight): " ".join(word for word, one in weights.items() if one == weight)
        for weight in range(-MAX_WEIGHT, MAX_WEIGHT + 1)
    }
    file.write_text(json.dumps({"made": made, "words": words}, indent=1) + "\n", encoding="utf-8")


def read_weights(file: Path) -> dict[str, int]:
    """Read what :func:`write_weights` wrote."""
    lists = json.loads(file.read_text(encoding="utf-8"))["words"]
    return {word: int(weight) for weight, words in lists.items() for word in words.split()}


@cache
def shipped_weights() -> Weights:
    """The weights that ship."""
    return read_weights(SHIPPED_FILE)
