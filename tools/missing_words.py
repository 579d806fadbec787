"""Words of a question that the database does not have, and attributes that it lacks."""

import re

from planweave.tools.checking.known_words import is_known
from planweave.tools.checking.words import GENERIC, roots, tokens, word_set
from planweave.tools.database import Schema
from planweave.tools.linking import singular

_PHRASE = r"((?:(?!by\b|with\b|that\b|where\b|top\b|\d)[\w-]+\s+){1,4}?)"
_ATTRIBUTE = re.compile(
    rf"\bwhat(?:['\u2019]s|\s+(?:is|was|are|were))\s+the\s+{_PHRASE}(?:of|for|from|per|at|on|in)\b"
    rf"|\b(?:list|show|give)\s+(?:me\s+|us\s+)?the\s+{_PHRASE}(?:of|for)\s+(?:all|each|every|the)\b",
    re.IGNORECASE,
)
"""An attribute of a thing, as in "the microchip number of each dog"."""
_PLAIN = word_set(
    "and average combination common current daily date day different difference distinct every "
    "exact final first five four full fraction kind last list maximum mean median minimum month "
    "monthly most number of or overall percent percentage proportion quarterly range ratio recent "
    "respective second share sum ten thing third three time top total two type weekly worst year "
    "yearly"
)
"""Words of calculation, order and time, which are not names of attributes."""
_CALENDAR = word_set(
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday weekend weekday spring summer autumn fall "
    "winter today yesterday tomorrow now day date week month quarter year morning evening night "
    "when"
)
_DATED = re.compile(r"(?:^|_|\b)(?:date|day|time|year|month|when)|(?:_on|_at)$", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_COMPUTED = re.compile(r"\bas [^,;.?]*\b(?:times|minus|plus|(?:divided|multiplied) by)\b", re.I)
"""A question that itself defines how to compute the attribute."""


def find_unknown_attribute(question: str, schema: Schema, explained: str = "") -> str:
    """Find the attribute that a question asks for and that the database has no word for.

    Words of ``explained`` (rules, values that the question mentions) are known as well. Empty if
    the question asks for no attribute or all its words are known.
    """
    asked = _ATTRIBUTE.search(question)
    if not asked or _COMPUTED.search(question):
        return ""
    attribute = next(filter(None, asked.groups())).strip()
    known = _known_roots(schema, explained)
    specific = (word for word in tokens(attribute) if not _is_plain(word))
    return attribute if any(not is_known(word, known) for word in specific) else ""


def find_missing_words(question: str, schema: Schema, explained: str = "") -> dict[str, str]:
    """Find all words of a question that the database does not have, each by its singular.

    Words of ``explained`` are known as well, and those of a calendar if the database has dates.
    Numbers do not count.
    """
    known = _known_roots(schema, explained)
    calendar = _CALENDAR if _has_dates(schema) else frozenset()
    words = (word for word in tokens(question) if word.isalpha() and singular(word) not in calendar)
    return {singular(word): word for word in words if not is_known(word, known)}


def _has_dates(schema: Schema) -> bool:
    fields = [field for one in schema.entities for field in one.fields]
    return any(
        field.type.lower().startswith(("date", "timestamp", "datetime"))
        or _DATED.search(field.name)
        or any(map(_DAY.match, field.samples))
        for field in fields
    )


def _known_roots(schema: Schema, explained: str) -> frozenset[str]:
    fields = [field for one in schema.entities for field in one.fields]
    names = [one.name for one in schema.entities]
    names += [text for field in fields for text in (field.name, field.comment)]
    return roots(" ".join([*names, explained]))


def _is_plain(word: str) -> bool:
    singular = word.removesuffix("s")
    return (
        not {word, singular}.isdisjoint(_PLAIN | GENERIC)
        or word.endswith(("ly", "ed", "est"))
        or not word.isalpha()
    )
