"""Names that a query takes from its question and the database does not have."""

import re
from collections.abc import Iterable

from planweave.tools.database import Schema
from planweave.tools.linking import singular

_WORD = re.compile(r"[^\W\d_]+")
_PARTS = re.compile(r"[^\W\d_A-Z]+|[A-Z]+(?![a-z])|[A-Z][^\W\d_A-Z]*")


def find_invented_name(
    names: Iterable[str], question: str, schema: Schema, *, explained: str = ""
) -> str:
    """Find a name that consists of a question's words and that the database does not have.

    A model that finds no column for a question invents one, such as ``blood_type``. Names with
    words of ``explained`` (rules, instructions) do not count. Empty if there is none.
    """
    entities = schema.entities
    given = [entity.name for entity in entities]
    given += [field.name for entity in entities for field in entity.fields]
    known = {_single(_joined(name)) for name in given}
    asked, known_words = (
        set(map(_single, _WORD.findall(text.lower()))) for text in (question, explained)
    )
    asked -= known_words
    for name in names:
        parts = {_single(part.lower()) for part in _PARTS.findall(name)}
        if parts and parts <= asked and _single(_joined(name)) not in known:
            return name
    return ""


def _joined(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _single(word: str) -> str:
    """A word without its plural ending."""
    return singular(re.sub(r"(?<=\w\w)ie$", "y", word))  # movie, movies
