"""Words with which a question compares: parts of texts, and bounds."""

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


def find_text_place(question: str, text: str) -> TextPlace | None:
    """Find where a stored text must contain ``text`` by the question; None for the whole text."""
    for place, words in _WORDS.items():
        pattern = rf"\b{words}{_BETWEEN}{re.escape(text)}\b"
        if text and re.search(pattern, question, re.IGNORECASE):
            return place
    return None


def find_bound_operator(question: str, value: str) -> str:
    """Find the operator of a comparison with a number or date: ``>`` for "after 1960".

    Empty if it asks for the value itself, or the value is a text.
    """
    if not value[:1].isdigit():
        return ""
    for operator, words in _BOUNDS.items():
        if re.search(rf"\b(?:{words}) \W?{re.escape(value)}\b(?!\.\d)", question, re.IGNORECASE):
            return operator
    return ""
