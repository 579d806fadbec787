"""Slots: places in a learned query for values that a question names.

A slot names the column (or property) of its value, as ``{{country.country_name}}``. So any database
with that column can fill it, with the one value of the column that the question names.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

_SLOT = re.compile(r"\{\{(\w+)\.(\w+)\}\}")
_QUOTED = re.compile(r"[\"“'`]([^\"“”'`\n]{1,80})[\"”'`]")
_WORD = re.compile(r"\w+(?:[-.&]\w+)*")
_MAX_WORDS = 4


class Place(NamedTuple):
    """The place of the values of a slot: a column of a table, or a property of a label."""

    owner: str
    column: str

    def __str__(self) -> str:
        """The slot, as written in an instruction."""
        return f"{{{{{self.owner}.{self.column}}}}}"


def find_slots(instruction: str) -> tuple[Place, ...]:
    """The distinct slots of an instruction."""
    return tuple(dict.fromkeys(Place(m[1], m[2]) for m in _SLOT.finditer(instruction)))


def find_phrases(question: str) -> tuple[str, ...]:
    """Find what a question may name: quoted text, and one to four words in a row."""
    words = list(_WORD.finditer(question))
    runs = (
        question[words[start].start() : words[start + more].end()]
        for more in range(_MAX_WORDS)
        for start in range(len(words) - more)
    )
    return tuple(dict.fromkeys([*_find_quoted(question), *runs]))


def find_named(question: str, values: Iterable[str]) -> str | None:
    """Find the one of ``values`` that a question names; None if it names none or several.

    Quoted text precedes plain words, and a longer name precedes its parts.
    """
    known = set(values)
    for asked in (_find_quoted(question), find_phrases(question)):
        found = [text for text in dict.fromkeys(asked) if text in known]
        whole = [text for text in found if not any(text != o and text in o for o in found)]
        if whole:
            return whole[0] if len(whole) == 1 else None
    return None


def fill_slots(instruction: str, values: Mapping[Place, str], *, escape: str) -> str:
    r"""Fill the slots of an instruction with text literals.

    ``escape`` precedes a quote in a literal: another quote in SQL, ``\`` in Cypher.
    """
    return _SLOT.sub(lambda m: quoted(values[Place(m[1], m[2])], escape=escape), instruction)


def quoted(text: str, *, escape: str) -> str:
    """Quote a text as a literal of the query language."""
    return "'" + text.replace("'", escape + "'") + "'"


def select_safe(texts: Sequence[str]) -> list[str]:
    """Select the texts that a literal of every dialect can hold."""
    return [text for text in texts if text.isprintable() and "\\" not in text]


def _find_quoted(question: str) -> list[str]:
    return [match[1] for match in _QUOTED.finditer(question)]
