"""A graph's schema, read by plain Cypher that every engine understands."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from planweave.tools.database import Cell, Entity, Field, Schema

ReadRows: TypeAlias = Callable[[str], Sequence[Sequence[Cell]]]

_SAMPLES = 5
_LONGEST = 60  # characters of one sample
_TYPES = ((bool, "BOOLEAN"), (int, "INTEGER"), (float, "FLOAT"), (str, "STRING"))


def describe(
    read: ReadRows,
    language: str,
    keys: Mapping[str, Sequence[str]],
    scan: int,
) -> Schema:
    """Describe labels and relationship types with their properties, counts and directions.

    ``keys`` are, by label, the properties that identify a node. At most ``scan`` nodes of a label
    and relationships are looked at for properties and directions.
    """
    return Schema(
        language=language,
        entities=(*_nodes(read, keys, scan), *_relationships(read, scan)),
    )


_PLAIN = re.compile(r"[A-Za-z]\w*", re.ASCII)
_KEYWORDS = """
    all and any as asc ascending by call case contains count create delete desc descending detach
    distinct drop else end ends exists false foreach from group having in is limit load match merge
    no node none not null on optional or order remove return set single skip starts then true union
    unique unwind using when where with xor yield
"""
_RESERVED = frozenset(_KEYWORDS.split())


def quoted(name: str) -> str:
    """A label, type, property or variable; in backticks, unless it is a plain name."""
    if _PLAIN.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def _nodes(
    read: ReadRows,
    keys: Mapping[str, Sequence[str]],
    scan: int,
) -> Iterator[Entity]:
    labels = read("MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) ORDER BY label")
    for label, count in labels:
        name = str(label)
        fields = _fields(read, f"(x:{quoted(name)})", keys.get(name, ()), scan)
        yield Entity(name=name, kind="node", fields=fields, count=_integer(count))


def _relationships(read: ReadRows, scan: int) -> Iterator[Entity]:
    pairs = read(
        f"MATCH (a)-[r]->(b) WITH a, r, b LIMIT {scan} UNWIND labels(a) AS source "
        "UNWIND labels(b) AS target RETURN DISTINCT type(r) AS name, source, target"
    )
    for name in sorted({str(row[0]) for row in pairs}):
        ends = [row for row in pairs if row[0] == name]
        count = read(f"MATCH ()-[r:{quoted(name)}]->() RETURN count(r)")[0][0]
        yield Entity(
            name=name,
            kind="relationship",
            fields=_fields(read, f"()-[x:{quoted(name)}]->()", (), scan),
            count=_integer(count),
            start=tuple(sorted({str(row[1]) for row in ends})),
            end=tuple(sorted({str(row[2]) for row in ends})),
        )


def _fields(read: ReadRows, pattern: str, keys: Sequence[str], scan: int) -> tuple[Field, ...]:
    rows = read(
        f"MATCH {pattern} WITH x LIMIT {scan} UNWIND keys(x) AS key WITH key, x[key] AS value "
        "WHERE value IS NOT NULL RETURN key, collect(DISTINCT value)[0..100] ORDER BY key"
    )
    fields = [_field(str(key), values, keys) for key, values in rows]
    return tuple(sorted(fields, key=lambda one: (not one.key, one.name)))


def _field(name: str, values: Cell, keys: Sequence[str]) -> Field:
    known = values if isinstance(values, list) else []
    return Field(
        name=name,
        type=_type(known),
        key=name in keys,
        samples=tuple(_sample(value) for value in known[:_SAMPLES]),
    )


def _type(values: Sequence[Cell]) -> str:
    found = {next((n for t, n in _TYPES if type(value) is t), "LIST") for value in values}
    if found == {"INTEGER", "FLOAT"}:
        return "FLOAT"
    return " | ".join(sorted(found)) or "NULL"


def _sample(value: Cell) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _integer(value: Cell) -> int | None:
    return value if isinstance(value, int) else None
