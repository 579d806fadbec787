"""How a question says what a query compares: parts of texts, and bounds."""

import re
from typing import Literal, TypeAlias

TextPlace: TypeAlias = Literal["contains", "starts", "ends"]

_WORDS: dict[TextPlace, str] = {
    "contains": r"(?:contain(?:s|ing)?|includes?|including|mention(?:s|ing)?|with the word)",
    "starts": r"(?:start|begin)\w* (?:with|by|in)",
    "ends": r"end(?:s|ing)? (?:with|in|on)",
}
_BOUNDS = {
    ">=": r"since|at least|no(?:t)? (?:less|earlier) than",
    "<=": r"until|at most|up to|no(?:t)? (?:more|later) than",
    ">": r"after|above|over|exceed(?:s|ing)?|(?:later|more|greater|higher|larger) than",
    "<": r"before|below|under|(?:earlier|less|fewer|lower|smaller) than",
}
_BETWEEN = r"(?: (?:a|an|the|word|words|term|text|phrase|letter|letters|string)){0,3} ?\W?"


def said_part(question: str, text: str) -> TextPlace | None:
    """What part of a stored text the question compares with ``text``; None for the whole."""
    for part, words in _WORDS.items():
        said = rf"\b{words}{_BETWEEN}{re.escape(text)}\b"
        if text and re.search(said, question, re.IGNORECASE):
            return part
    return None


def said_bound(question: str, value: str) -> str:
    """How the question bounds by a number or a date, as an operator: "after 1960" is ``>``.

    Returns:
        Empty where it asks for the value itself, or bounds by a text.
    """
    if not value[:1].isdigit():
        return ""
    for operator, words in _BOUNDS.items():
        if re.search(rf"\b(?:{words}) \W?{re.escape(value)}\b(?!\.\d)", question, re.IGNORECASE):
            return operator
    return ""
