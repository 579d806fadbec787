"""How a question says that a text is compared: by a part of it, its beginning or its end."""

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
