"""How a question says what a query compares and sorts by: parts of texts, and superlatives."""

import re
from typing import Literal, TypeAlias

from planweave.tools.checking.words import ANY, of_kind, root, superlatives
from planweave.tools.linking import parts_of

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
_BEGUN_WORDS = """
    admitted applied began begun bought employed enrolled hired joined moved opened received
    registered since start started
"""
_BEGUN = frozenset(_BEGUN_WORDS.split())
"""Parts of a name by which the least is what lasts longest: who joined first is here longest."""
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


def said_direction(question: str, name: str) -> Literal["ASC", "DESC"] | None:
    """How the question sorts by a column or property: the oldest person is born first.

    Returns:
        None where the question says nothing of it, or the name does not tell.
    """
    parts, asked_for = [part.lower() for part in parts_of(name)], superlatives(question)
    if _BEGUN.intersection(parts) and [asked.word for asked in asked_for] == ["longest"]:
        return "ASC"
    words = list(map(root, parts))
    senses = {sense for asked in asked_for for sense in asked.senses}
    ways = {way for way, kind in senses if kind != ANY and of_kind(kind, words)}
    if len(ways) != 1:
        return None
    return "DESC" if ways == {"highest"} else "ASC"
