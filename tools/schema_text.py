"""Writes a schema as compact text for a language model, within a number of characters."""

import re
from collections.abc import Callable
from dataclasses import replace

from planweave.texts import shorten
from planweave.tools.database import Entity, Field, Schema
from planweave.tools.result_text import one_line

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_NAME_POSTGRES = re.compile(r"[a-z_][a-z0-9_]*")  # it folds capitals to lower case
_RESERVED = """
    all and as asc between by case check column constraint create default desc distinct drop else
    end from group having in index insert into is join key left like limit not null offset on or
    order primary references right select set table then to union unique update user using values
    when where with
"""
_RESERVED_NAMES = frozenset(_RESERVED.split())
_LONGEST_SAMPLE = 30
_MOST_SAMPLES = 3
_MEASURES = ("float", "double", "real", "numeric", "decimal")
_LEFT_OUT_NAMES = 20


def schema_text(schema: Schema, *, max_characters: int = 6000) -> str:
    """Describe tables or labels, typed columns, keys, directions, row counts and sample values.

    If the text is longer than ``max_characters``, it leaves out sample values, then columns that
    are not keys, then tables or labels from the end; its first line names what is missing.
    """
    cuts: tuple[tuple[str, Callable[[Field], Field | None]], ...] = (
        ("", lambda field: _with_samples(field, _MOST_SAMPLES)),
        ("some sample values", lambda field: _with_samples(field, 1)),
        ("sample values", lambda field: _with_samples(field, 0)),
        ("sample values and columns that are no keys", _if_key),
    )
    for left_out, cut in cuts:
        text = "\n".join([_title(schema, left_out), *_lines(schema, cut)])
        if len(text) <= max_characters:
            return text
    return _some_entities(schema, _lines(schema, _if_key), max_characters)


def _some_entities(schema: Schema, lines: list[str], max_characters: int) -> str:
    """The shortest text: as many entities as fit, and the names of some others."""
    for shown in range(len(lines) - 1, -1, -1):
        missing = [_name(entity.name, schema) for entity in schema.entities[shown:]]
        names = ", ".join(missing[:_LEFT_OUT_NAMES])
        more = ", …" if len(missing) > _LEFT_OUT_NAMES else ""
        title = _title(schema, f"sample values, columns that are no keys, and {len(missing)} of")
        text = "\n".join([f"{title} {len(lines)} entities: {names}{more}", *lines[:shown]])
        if len(text) <= max_characters:
            return text
    return shorten(text, max_characters)


def _title(schema: Schema, left_out: str) -> str:
    title = f"Schema, {schema.language}"
    return f"{title}, shortened; left out: {left_out}" if left_out else title


def _lines(schema: Schema, cut: Callable[[Field], Field | None]) -> list[str]:
    return [_entity(entity, schema, cut) for entity in schema.entities]


def _entity(entity: Entity, schema: Schema, cut: Callable[[Field], Field | None]) -> str:
    kept = [field for field in map(cut, entity.fields) if field]
    fields = ", ".join(_field(field, schema) for field in kept)
    if len(kept) < len(entity.fields):
        fields += ", …" if fields else "…"
    name = _name(entity.name, schema)
    unit = "rows" if entity.kind in ("table", "view") else "in all"
    count = "" if entity.count is None else f" {entity.count} {unit}"
    if entity.kind == "relationship":
        start, end = (
            "|".join(_name(x, schema) for x in ends) for ends in (entity.start, entity.end)
        )
        properties = f" {{{fields}}}" if fields else ""
        return f"({start})-[:{name}{properties}]->({end}){count}"
    if entity.kind == "node":
        return f"(:{name} {{{fields}}}){count}"
    kind = "view " if entity.kind == "view" else ""
    return f"{kind}{name}({fields}){count}"


def _field(field: Field, schema: Schema) -> str:
    """For example ``home_node varchar key -> trade_node.trade_node ['genoa', 'venice']``."""
    short_type = one_line(field.type).partition("(")[0].strip().lower()
    text = f"{_name(field.name, schema)} {short_type}".strip()
    if field.key:
        text += " key"
    if field.references:
        text += f" -> {one_line(field.references)}"
    if field.samples:
        samples = (one_line(shorten(sample, _LONGEST_SAMPLE)) for sample in field.samples)
        text += f" [{', '.join(samples)}]"
    return text


def _with_samples(field: Field, count: int) -> Field:
    """The field with fewer samples; none for a measure, whose values do not help a reader."""
    if field.type.lower().startswith(_MEASURES):
        count = 0
    return replace(field, samples=field.samples[:count])


def _if_key(field: Field) -> Field | None:
    return _with_samples(field, 0) if field.key or field.references else None


def _name(name: str, schema: Schema) -> str:
    """A name as a query must write it: with the dialect's quotes if it is not plain."""
    plain = _PLAIN_NAME_POSTGRES if "PostgreSQL" in schema.language else _PLAIN_NAME
    is_sql = schema.language.startswith("SQL")
    if plain.fullmatch(name) and not (is_sql and name.lower() in _RESERVED_NAMES):
        return name
    has_backticks = not is_sql or "MariaDB" in schema.language or "MySQL" in schema.language
    quote = "`" if has_backticks else '"'
    return one_line(f"{quote}{name.replace(quote, quote * 2)}{quote}")
