"""Finds which columns refer to which key in the data, where a table declares no foreign keys."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from planweave.tools.database import Entity, Field, QueryResult, Schema

Quote: TypeAlias = Callable[[str], str]
"""Writes a name as the dialect does."""
Find: TypeAlias = Callable[[str], QueryResult | None]
"""Runs a query; None if there was no time for it, or it failed."""

_TEXT = ("char", "text", "string", "uuid")
_INTEGER = ("int", "serial")
_PROBED_VALUES = 1_000
_WORTHLESS = {"id", "name", "code", "key", "no", "number"}
_NUMBERING = {"id", "code", "key", "no", "nr", "number"}


class _Key(NamedTuple):
    """A key; one that no table declares is only meant by columns that are called as its table."""

    table: str
    column: str
    family: str
    tokens: frozenset[str]
    is_declared: bool = True


def with_found_references(schema: Schema, quote: Quote, read: Find) -> Schema:
    """Add ``references`` to columns all of whose values are values of another table's key.

    A text column may refer to any text key; an integer column only to a key whose table its name
    speaks of (``goods_id`` and ``goods``), since small integers lie in each other by chance.
    """
    tables = [one for one in schema.entities if one.kind == "table"]
    found = {e.name: _key(e) or _numbering(e, quote, read) for e in tables if len(tables) > 1}
    keys = [key for key in found.values() if key]
    return replace(
        schema,
        entities=tuple(
            _with_references(entity, found.get(entity.name), keys, quote, read)
            for entity in schema.entities
        ),
    )


def _with_references(
    entity: Entity, own: _Key | None, keys: list[_Key], quote: Quote, read: Find
) -> Entity:
    if entity.kind != "table" or any(field.references for field in entity.fields):
        return entity

    def refer(field: Field) -> Field:
        if own and field.name == own.column:  # things of their own, whatever they are called
            return field
        for key in _plausible(entity.name, field, keys):
            if _is_within(entity.name, field.name, key, quote, read):
                return replace(field, references=f"{key.table}.{key.column}")
        return field

    return replace(entity, fields=tuple(refer(field) for field in entity.fields))


def _plausible(table: str, field: Field, keys: list[_Key]) -> list[_Key]:
    """Keys that the column may refer to, those first that its name speaks of."""
    tokens = _tokens(field.name)
    shared = {key: len(tokens & key.tokens) for key in keys}
    fits = [
        key
        for key in keys
        if key.table != table
        and key.family == _family(field)
        and (shared[key] or key.family == "text")
        and (key.is_declared or (tokens and tokens <= key.tokens))
    ]
    return sorted(fits, key=lambda key: -shared[key])


def _is_within(table: str, column: str, key: _Key, quote: Quote, read: Find) -> bool:
    value, target = quote(column), quote(key.column)
    found = read(
        f"SELECT COUNT(*), COUNT(k.{target}) FROM (SELECT DISTINCT {value} FROM {quote(table)} "  # noqa: S608 (names of the catalogue, quoted)
        f"WHERE {value} IS NOT NULL LIMIT {_PROBED_VALUES}) AS v "
        f"LEFT JOIN {quote(key.table)} AS k ON k.{target} = v.{value}"
    )
    if not found:
        return False
    values, met = found.rows[0]
    return bool(values) and values == met


def _key(entity: Entity) -> _Key | None:
    """The key of a table, if it is a single column that could be referred to."""
    keys = [field for field in entity.fields if field.key]
    if len(keys) != 1 or not (family := _family(keys[0])):
        return None
    return _Key(entity.name, keys[0].name, family, _tokens(entity.name))


def _numbering(entity: Entity, quote: Quote, read: Find) -> _Key | None:
    """The first column of a table without a declared key, if it numbers its rows by its name."""
    first = entity.fields[0] if entity.fields else None
    if first is None or any(field.key for field in entity.fields) or not _family(first):
        return None
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", first.name)]
    if not words or words[-1] not in _NUMBERING:
        return None
    column, table = quote(first.name), quote(entity.name)
    found = read(f"SELECT COUNT(*), COUNT(DISTINCT {column}) FROM {table}")  # noqa: S608 (as above)
    if not found or found.rows[0][0] != found.rows[0][1]:
        return None
    return _Key(entity.name, first.name, _family(first), _tokens(entity.name), is_declared=False)


def _family(field: Field) -> str:
    type_ = field.type.lower()
    if any(word in type_ for word in _TEXT):
        return "text"
    return "integer" if any(word in type_ for word in _INTEGER) else ""


def _tokens(name: str) -> frozenset[str]:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return frozenset(word.lower().removesuffix("s") for word in words) - _WORTHLESS
