"""Names of several words as the database has them: ``Unit Price`` for ``Unit_Price``, or quoted."""

import re

from sqlglot import exp
from sqlglot.tokens import Tokenizer

from planweave.tools.database import Schema

_TEXT = re.compile(r"('(?:[^']|'')*')")
_PLAIN = re.compile(r"[^\W\d]\w*")
_OPEN, _CLOSE = r"(?P<open>[\"`\[]?)", r"(?P<close>[\"`\]]?)"
_CLAUSE_WORDS = frozenset(
    {"and", "as", "by", "case", "else", "end", "from", "having", "in", "is", "join", "like", "not"}
    | {"on", "or", "select", "then", "when", "where"}
)


def write_stored_names(query: str, schema: Schema, dialect: str) -> tuple[str, list[str]]:
    """Write names of several words as in the schema.

    A name without quotes is left if its words may be apart: ``FROM airport`` is not a column
    ``from_airport``. For a name stored with blanks, only a first word that begins a clause counts.

    Returns:
        The query, and what was changed.
    """
    names = {entity.name for entity in schema.entities}
    names |= {field.name for entity in schema.entities for field in entity.fields}
    single, changes = {name.lower() for name in names}, []
    pieces = _TEXT.split(query)
    for name in sorted(sorted(names), key=len, reverse=True):
        words = re.split(r"[\s_-]+", name)
        if len(words) < 2 or not all(words):
            continue
        stored = name
        if not _PLAIN.fullmatch(name):
            stored = exp.to_identifier(name, quoted=True).sql(dialect)
        blank = r"\s+".join(map(re.escape, words))
        pattern = re.compile(rf"{_OPEN}(?<!\w){blank}(?!\w){_CLOSE}", re.IGNORECASE)
        first = words[0].lower()
        if " " in name:
            may_be_apart = first in _CLAUSE_WORDS
        else:
            is_sql = any(word.upper() in Tokenizer.KEYWORDS for word in words)
            may_be_apart = is_sql or first in single

        def replace(found: re.Match[str], stored: str = stored, apart: bool = may_be_apart) -> str:
            has_table = found.string[: found.start()].endswith(".")
            return found[0] if apart and not found["open"] and not has_table else stored

        for at in range(0, len(pieces), 2):  # the others are texts
            written = pattern.sub(replace, pieces[at])
            if written != pieces[at]:
                pieces[at] = written
                changes.append(f"the name is {name}")
    return "".join(pieces), changes
