"""Slots: the places of a learned query that take what a question names.

A slot names the column (or property) that its value is in, as ``{{country.country_name}}``, so
that it can be filled in any database that has that column: by the one value of it that the
question mentions.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

_SLOT = re.compile(r"\{\{(\w+)\.(\w+)\}\}")
_QUOTED = re.compile(r"[\"“'`]([^\"“”'`\n]{1,80})[\"”'`]")
_WORD = re.compile(r"\w+(?:[-.&]\w+)*")
_MAX_WORDS = 4


class Place(NamedTuple):
    """Where the values of a slot are: a table's column, or a label's property."""

    owner: str
    column: str

    def __str__(self) -> str:
        """The slot, as it is in an instruction."""
        return f"{{{{{self.owner}.{self.column}}}}}"


def find_slots(instruction: str) -> tuple[Place, ...]:
    """The slots of an instruction, each once."""
    return tuple(dict.fromkeys(Place(m[1], m[2]) for m in _SLOT.finditer(instruction)))


def find_phrases(question: str) -> tuple[str, ...]:
    """What a question may name: quoted text, single words and up to four in a row, each once."""
    words = list(_WORD.finditer(question))
    runs = (
        question[words[start].start() : words[start + more].end()]
        for more in range(_MAX_WORDS)
        for start in range(len(words) - more)
    )
    return tuple(dict.fromkeys([*_find_quoted(question), *runs]))


def find_named(question: str, values: Iterable[str]) -> str | None:
    """The one of ``values`` that a question names, or None when it names none or several.

    Quoted text goes before plain words, and a longer name before one that is a part of it.
    """
    known = set(values)
    for asked in (_find_quoted(question), find_phrases(question)):
        found = [text for text in dict.fromkeys(asked) if text in known]
        whole = [text for text in found if not any(text != o and text in o for o in found)]
        if whole:
            return whole[0] if len(whole) == 1 else None
    return None


def fill_slots(instruction: str, values: Mapping[Place, str], *, escape: str) -> str:
    r"""An instruction with its slots filled with text literals.

    ``escape`` is what is before a quote in a literal: another quote in SQL, ``\`` in Cypher.
    """
    return _SLOT.sub(lambda m: quote_literal(values[Place(m[1], m[2])], escape=escape), instruction)


def quote_literal(text: str, *, escape: str) -> str:
    """A text literal of the query language."""
    return "'" + text.replace("'", escape + "'") + "'"


def select_safe(texts: Sequence[str]) -> list[str]:
    """Those texts that can be in a literal of every dialect."""
    return [text for text in texts if text.isprintable() and "\\" not in text]


def _find_quoted(question: str) -> list[str]:
    return [match[1] for match in _QUOTED.finditer(question)]
