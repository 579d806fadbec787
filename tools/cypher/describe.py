"""Read a graph's schema with plain Cypher that every engine understands."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from planweave.tools.cypher.tokens import quote_name
from planweave.tools.database import Cell, Entity, Field, Schema

ReadRows: TypeAlias = Callable[[str], Sequence[Sequence[Cell]]]

_SAMPLES = 5
_SAMPLE_LENGTH = 60
_TYPES = ((bool, "BOOLEAN"), (int, "INTEGER"), (float, "FLOAT"), (str, "STRING"))


def describe_graph(
    read: ReadRows, language: str, keys: Mapping[str, Sequence[str]], scan: int
) -> Schema:
    """Describe labels and relationship types with their properties, counts and directions.

    Args:
        read: Runs a query.
        language: The language of the model's queries.
        keys: By label, the properties that identify a node.
        scan: Most nodes of a label, and most relationships, that are read.
    """
    entities = (*_read_labels(read, keys, scan), *_read_types(read, scan))
    return Schema(language=language, entities=entities)


def _read_labels(read: ReadRows, keys: Mapping[str, Sequence[str]], scan: int) -> Iterator[Entity]:
    labels = read("MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) ORDER BY label")
    for label, count in labels:
        name = str(label)
        fields = _read_fields(read, f"(x:{quote_name(name)})", keys.get(name, ()), scan)
        yield Entity(name=name, kind="node", fields=fields, count=_integer(count))


def _read_types(read: ReadRows, scan: int) -> Iterator[Entity]:
    pairs = read(
        f"MATCH (a)-[r]->(b) WITH a, r, b LIMIT {scan} UNWIND labels(a) AS source "
        "UNWIND labels(b) AS target RETURN DISTINCT type(r) AS name, source, target"
    )
    for name in sorted({str(row[0]) for row in pairs}):
        ends = [row for row in pairs if row[0] == name]
        count = read(f"MATCH ()-[r:{quote_name(name)}]->() RETURN count(r)")[0][0]
        yield Entity(
            name=name,
            kind="relationship",
            fields=_read_fields(read, f"()-[x:{quote_name(name)}]->()", (), scan),
            count=_integer(count),
            start=tuple(sorted({str(row[1]) for row in ends})),
            end=tuple(sorted({str(row[2]) for row in ends})),
        )


def _read_fields(read: ReadRows, pattern: str, keys: Sequence[str], scan: int) -> tuple[Field, ...]:
    rows = read(
        f"MATCH {pattern} WITH x LIMIT {scan} UNWIND keys(x) AS key WITH key, x[key] AS value "
        "WHERE value IS NOT NULL RETURN key, collect(DISTINCT value)[0..100] ORDER BY key"
    )
    fields = []
    for name, values in rows:
        known = values if isinstance(values, list) else []
        samples = tuple(_sample_text(value) for value in known[:_SAMPLES])
        key = name in keys
        fields.append(Field(name=str(name), type=_type_name(known), key=key, samples=samples))
    return tuple(sorted(fields, key=lambda field: (not field.key, field.name)))


def _type_name(values: Sequence[Cell]) -> str:
    found = {next((n for t, n in _TYPES if type(value) is t), "LIST") for value in values}
    if found == {"INTEGER", "FLOAT"}:
        return "FLOAT"
    return " | ".join(sorted(found)) or "NULL"


def _sample_text(value: Cell) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _SAMPLE_LENGTH else text[: _SAMPLE_LENGTH - 1] + "…"


def _integer(value: Cell) -> int | None:
    return value if isinstance(value, int) else None
