"""How a question says what a query compares and sorts by: parts of texts, and superlatives."""

import re
from typing import Literal, TypeAlias

from planweave.tools.checking.words import ANY, of_kind, root, superlatives
from planweave.tools.linking import parts_of

Part: TypeAlias = Literal["contains", "starts", "ends"]

_WORDS: dict[Part, str] = {
    "contains": r"(?:contain(?:s|ing)?|includes?|including|mention(?:s|ing)?|with the word)",
    "starts": r"(?:start|begin)\w* (?:with|by|in)",
    "ends": r"end(?:s|ing)? (?:with|in|on)",
}
_BETWEEN = r"(?: (?:a|an|the|word|words|term|text|phrase|letter|letters|string)){0,3} ?\W?"


def said_part(question: str, text: str) -> Part | None:
    """What part of a stored text the question compares with ``text``; None for the whole."""
    for part, words in _WORDS.items():
        said = rf"\b{words}{_BETWEEN}{re.escape(text)}\b"
        if text and re.search(said, question, re.IGNORECASE):
            return part
    return None


def said_direction(question: str, name: str) -> Literal["ASC", "DESC"] | None:
    """How the question sorts by a column or property: the oldest person is born first.

    Returns:
        None where the question says nothing of it, or the name does not tell.
    """
    words = [root(part.lower()) for part in parts_of(name)]
    senses = {sense for asked in superlatives(question) for sense in asked.senses}
    ways = {way for way, kind in senses if kind != ANY and of_kind(kind, words)}
    if len(ways) != 1:
        return None
    return "DESC" if ways == {"highest"} else "ASC"
