"""Names of several words as the database has them: ``Unit Price`` for ``Unit_Price``, or quoted."""

import re

from planweave.tools.database import Schema

_TEXT = re.compile(r"('(?:[^']|'')*')")
_PLAIN = re.compile(r"[^\W\d]\w*")
_OPEN, _CLOSE = r"(?P<open>[\"`\[]?)", r"(?P<close>[\"`\]]?)"


def with_stored_names(query: str, schema: Schema, dialect: str) -> tuple[str, list[str]]:
    """The query with names that it writes with blanks as the schema has them, and what changed.

    A name without quotes is left if its first word is a name by itself, as the next may be an
    alias, and if one of its words is SQL: in ``FROM airport`` no column ``from_airport`` is meant.

    Args:
        query: As a model wrote it.
        schema: The tables that it may read.
        dialect: sqlglot's name of the dialect.
    """
    from sqlglot.tokens import Tokenizer

    names = {entity.name for entity in schema.entities}
    names |= {field.name for entity in schema.entities for field in entity.fields}
    single, changes = {name.lower() for name in names}, []
    pieces = _TEXT.split(query)
    for name in sorted(names, key=len, reverse=True):
        words = re.split(r"[\s_-]+", name)
        if len(words) < 2 or not all(words):
            continue
        stored = name if _PLAIN.fullmatch(name) else _quoted(name, dialect)
        blank = r"\s+".join(map(re.escape, words))
        spoken = re.compile(rf"{_OPEN}(?<!\w){blank}(?!\w){_CLOSE}", re.IGNORECASE)
        is_sql = any(word.upper() in Tokenizer.KEYWORDS for word in words)
        may_be_two = is_sql or words[0].lower() in single

        def named(found: re.Match[str], stored: str = stored, two: bool = may_be_two) -> str:
            return found[0] if two and not found["open"] else stored

        for at in range(0, len(pieces), 2):
            written = spoken.sub(named, pieces[at])
            if written != pieces[at]:
                pieces[at] = written
                changes.append(f"the name is {name}")
    return "".join(pieces), changes


def _quoted(name: str, dialect: str) -> str:
    mark = "`" if dialect == "mysql" else '"'
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"
