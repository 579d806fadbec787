"""Names of several words as the database has them: ``Unit Price`` for ``Unit_Price``, or quoted."""

import re

from sqlglot import exp
from sqlglot.tokens import Tokenizer

from planweave.tools.database import Schema

_TEXT = re.compile(r"('(?:[^']|'')*')")
_PLAIN = re.compile(r"[^\W\d]\w*")
_OPEN, _CLOSE = r"(?P<open>[\"`\[]?)", r"(?P<close>[\"`\]]?)"
_CLAUSE = """
    and as by case else end from having in is join like not on or select then when where
"""
_CLAUSES = frozenset(_CLAUSE.split())


def with_stored_names(query: str, schema: Schema, dialect: str) -> tuple[str, list[str]]:
    """The query with names that it writes with blanks as the schema has them, and what changed.

    A name without quotes is left if it may be two: in ``FROM airport`` no column ``from_airport``
    is meant. If it is stored with blanks, only a first word that begins a clause is taken for SQL.
    """
    names = {entity.name for entity in schema.entities}
    names |= {field.name for entity in schema.entities for field in entity.fields}
    single, changes = {name.lower() for name in names}, []
    pieces = _TEXT.split(query)
    for name in sorted(names, key=len, reverse=True):
        words = re.split(r"[\s_-]+", name)
        if len(words) < 2 or not all(words):
            continue
        in_quotes = exp.to_identifier(name, quoted=True).sql(dialect)
        stored = name if _PLAIN.fullmatch(name) else in_quotes
        blank = r"\s+".join(map(re.escape, words))
        spoken = re.compile(rf"{_OPEN}(?<!\w){blank}(?!\w){_CLOSE}", re.IGNORECASE)
        first = words[0].lower()
        if " " in name:
            may_be_two = first in _CLAUSES
        else:
            is_sql = any(word.upper() in Tokenizer.KEYWORDS for word in words)
            may_be_two = is_sql or first in single

        def named(found: re.Match[str], stored: str = stored, two: bool = may_be_two) -> str:
            is_part = found.string[: found.start()].endswith(".")
            return found[0] if two and not found["open"] and not is_part else stored

        for at in range(0, len(pieces), 2):
            written = spoken.sub(named, pieces[at])
            if written != pieces[at]:
                pieces[at] = written
                changes.append(f"the name is {name}")
    return "".join(pieces), changes
