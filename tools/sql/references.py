"""Finds columns that refer to a key in the data, for tables that declare no foreign keys."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from planweave.tools.database import Entity, Field, QueryResult, Schema

Quote: TypeAlias = Callable[[str], str]
"""Quotes a name in the dialect."""
Find: TypeAlias = Callable[[str], QueryResult | None]
"""Runs a query; None if there was no time for it, or it failed."""

_TEXT = ("char", "text", "string", "uuid")
_INTEGER = ("int", "serial")
_PROBED_VALUES = 1_000
_NUMBER_WORDS = {"id", "code", "key", "no", "number"}
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


class _Key(NamedTuple):
    """A key; only columns with the name of its table can refer to one that is not declared."""

    table: str
    column: str
    family: str
    words: frozenset[str]
    is_declared: bool = True


def add_found_references(schema: Schema, quote: Quote, read: Find) -> Schema:
    """Add ``references`` to columns all of whose values are values of another table's key.

    A text column may refer to any text key; an integer column only to a key whose table its name
    contains (``goods_id`` and ``goods``), since small integers occur in many keys by chance.
    """
    tables = [one for one in schema.entities if one.kind == "table"]
    if len(tables) < 2:
        return schema
    keys = {key.table: key for one in tables if (key := _find_key(one, quote, read))}

    def refer(table: str, field: Field) -> Field:
        if table in keys and field.name == keys[table].column:  # its values are its own rows
            return field
        for key in _find_plausible_keys(table, field, keys.values()):
            if _is_within(table, field.name, key, quote, read):
                return replace(field, references=f"{key.table}.{key.column}")
        return field

    return replace(
        schema,
        entities=tuple(
            entity
            if entity.kind != "table" or any(field.references for field in entity.fields)
            else replace(entity, fields=tuple(refer(entity.name, field) for field in entity.fields))
            for entity in schema.entities
        ),
    )


def _find_plausible_keys(table: str, field: Field, keys: Iterable[_Key]) -> list[_Key]:
    """Find the keys that a column may refer to, first those whose table its name contains."""
    words = _get_words(field.name)
    shared = {key: len(words & key.words) for key in keys}
    plausible = [
        key
        for key in shared
        if key.table != table
        and key.family == _get_family(field)
        and (shared[key] or key.family == "text")
        and (key.is_declared or (words and words <= key.words))
    ]
    return sorted(plausible, key=lambda key: -shared[key])


def _is_within(table: str, column: str, key: _Key, quote: Quote, read: Find) -> bool:
    """Whether all values of a column are values of a key."""
    value, target = quote(column), quote(key.column)
    found = read(
        f"SELECT COUNT(*), COUNT(k.{target}) FROM (SELECT DISTINCT {value} FROM {quote(table)} "  # noqa: S608 (quoted names of the catalogue)
        f"WHERE {value} IS NOT NULL LIMIT {_PROBED_VALUES}) AS v "
        f"LEFT JOIN {quote(key.table)} AS k ON k.{target} = v.{value}"
    )
    if not found:
        return False
    values, matches = found.rows[0]
    return bool(values) and values == matches


def _find_key(entity: Entity, quote: Quote, read: Find) -> _Key | None:
    """Find the declared key of one column, else a first column that numbers the rows."""
    keys = [field for field in entity.fields if field.key]
    if len(keys) > 1 or not entity.fields:
        return None
    field = keys[0] if keys else entity.fields[0]
    family = _get_family(field)
    if not family or (not keys and not _numbers_rows(entity.name, field.name, quote, read)):
        return None
    return _Key(entity.name, field.name, family, _get_words(entity.name), is_declared=bool(keys))


def _numbers_rows(table: str, column: str, quote: Quote, read: Find) -> bool:
    """Whether a column's name means a number, and each row has a different value."""
    words = [word.lower() for word in _WORDS.findall(column)]
    if not words or words[-1] not in _NUMBER_WORDS | {"nr"}:
        return False
    found = read(f"SELECT COUNT(*), COUNT(DISTINCT {quote(column)}) FROM {quote(table)}")  # noqa: S608 (as above)
    return found is not None and found.rows[0][0] == found.rows[0][1]


def _get_family(field: Field) -> str:
    """Return ``text`` or ``integer``; empty for a type that cannot be a key."""
    type_ = field.type.lower()
    if any(word in type_ for word in _TEXT):
        return "text"
    return "integer" if any(word in type_ for word in _INTEGER) else ""


def _get_words(name: str) -> frozenset[str]:
    """Return the words of a name that carry its meaning."""
    words = {word.lower().removesuffix("s") for word in _WORDS.findall(name)}
    return frozenset(words) - _NUMBER_WORDS - {"name"}
