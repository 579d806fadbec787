"""How a question says what a query compares and sorts by: parts of texts, and age."""

import re
from typing import Literal, TypeAlias

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


_OLD = re.compile(r"\b(?:oldest|earliest)\b", re.IGNORECASE)
_YOUNG = re.compile(r"\b(?:youngest|newest|latest|most recent)\b", re.IGNORECASE)
_TIME = re.compile(r"born|birth|year(?!s)|(?<!candi)date|released|founded|created", re.IGNORECASE)


def said_direction(question: str) -> Literal["ASC", "DESC"] | None:
    """How the question sorts by a time: the oldest has the least; None if it does not say."""
    old, young = _OLD.search(question), _YOUNG.search(question)
    return None if bool(old) == bool(young) else "ASC" if old else "DESC"


def is_time(name: str) -> bool:
    """Whether a column or property of that name holds a time."""
    return _TIME.search(name) is not None
