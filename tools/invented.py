"""A name that a query takes from its question, because the database has none for it."""

import re
from collections.abc import Iterable

from planweave.tools.database import Schema

_WORD = re.compile(r"[^\W\d_]+")
_PARTS = re.compile(r"[^\W\d_A-Z]+|[A-Z]+(?![a-z])|[A-Z][^\W\d_A-Z]*")


def invented(names: Iterable[str], question: str, schema: Schema, *, explained: str = "") -> str:
    """A name that is made of a question's words and that the database does not have; or nothing.

    A model that finds no place for what is asked takes a name from the question: ``blood_type``.
    """
    entities = schema.entities
    given = [entity.name for entity in entities]
    given += [field.name for entity in entities for field in entity.fields]
    known = {_single(_joined(name)) for name in given}
    said, told = (set(map(_single, _WORD.findall(one.lower()))) for one in (question, explained))
    asked = said - told
    for name in names:
        parts = {_single(part.lower()) for part in _PARTS.findall(name)}
        if parts and parts <= asked and _single(_joined(name)) not in known:
            return name
    return ""


def _joined(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _single(word: str) -> str:
    """A word without its plural ending."""
    for ending, single in (("ies", "i"), ("sses", "ss"), ("ches", "ch"), ("xes", "x")):
        if word.endswith(ending):
            return word[: -len(ending)] + single
    if word.endswith(("ie", "y")) and len(word) > 3:
        return f"{word.removesuffix('e').removesuffix('y').removesuffix('i')}i"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
