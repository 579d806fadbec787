"""Describe a database: tables, typed columns, keys, row counts and sample values."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from planweave.texts import shorten
from planweave.tools.database import Entity, Field, QueryResult, Schema
from planweave.tools.result_text import cell_text
from planweave.tools.sql.references import Find, Quote, add_found_references

if TYPE_CHECKING:
    from sqlalchemy import Engine, Inspector, Select

log = logging.getLogger(__name__)

_SECONDS = 10.0  # for all counts and samples
_SECONDS_EACH = 1.0
_SAMPLES = 3
_SAMPLED_ROWS = 1_000
_LONGEST_COMMENT = 120
_TEXT_TYPES = ("char", "text", "bool", "tinyint", "enum", "clob", "string", "date", "time", "uuid")

Read = Callable[[str, float], QueryResult | None]
"""Runs a query inside a limit of seconds; None if it took longer or failed."""


def read_tables(engine: "Engine", language: str) -> Schema:
    """Read tables, views, columns and keys, but no data."""
    from sqlalchemy import inspect

    inspector, hidden = inspect(engine), _find_hidden_tables(engine)
    names = [name for name in inspector.get_table_names() if name not in hidden]
    found = [_read_table(inspector, name) for name in names]
    found += [_read_view(engine, inspector, name) for name in inspector.get_view_names()]
    return Schema(language=language, entities=tuple(one for one in found if one is not None))


def _find_hidden_tables(engine: "Engine") -> set[str]:
    """Find the tables in which SQLite's virtual tables (such as full-text search) store data."""
    if engine.dialect.name != "sqlite":
        return set()
    with engine.connect() as connection:
        tables = connection.exec_driver_sql("PRAGMA table_list")  # since SQLite 3.37
        rows = tables.mappings() if tables.returns_rows else ()
        return {str(row["name"]) for row in rows if row["type"] == "shadow"}


def read_definitions(engine: "Engine", schema: Schema) -> str:
    """Read the CREATE statements: SQLite's as written, others composed from the catalogue."""
    from sqlalchemy import text

    if engine.dialect.name == "sqlite":
        query = text(
            "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
        )
        known = {entity.name for entity in schema.entities}
        with engine.connect() as connection:
            rows = connection.execute(query)
            statements = [str(sql).strip() for name, sql in rows if name in known]
    else:
        quote = engine.dialect.identifier_preparer.quote
        statements = [_write_definition(entity, quote) for entity in schema.entities]
    return "\n\n".join(f"{statement};" for statement in statements)


def _write_definition(entity: Entity, quote: Quote) -> str:
    """Write the CREATE statement of a table; of a view only its columns, without its query.

    The comment of a column, which may explain its codes, follows the column.
    """
    parts = [(f"{quote(f.name)} {f.type}".strip(), f.comment) for f in entity.fields]
    keys = ", ".join(quote(field.name) for field in entity.fields if field.key)
    parts += [(f"PRIMARY KEY ({keys})", "")] if keys else []
    for field in entity.fields:
        if field.references:
            table, _, column = field.references.rpartition(".")
            target = f"{quote(table)} ({quote(column)})"
            parts.append((f"FOREIGN KEY ({quote(field.name)}) REFERENCES {target}", ""))
    commas = [","] * (len(parts) - 1) + [""]
    lines = [
        f"  {part}{comma}{f' -- {comment}' if comment else ''}"
        for (part, comment), comma in zip(parts, commas, strict=True)
    ]
    kind = "VIEW" if entity.kind == "view" else "TABLE"
    return f"CREATE {kind} {quote(entity.name)} (\n" + "\n".join(lines) + "\n)"


def _read_table(inspector: "Inspector", table: str) -> Entity | None:
    """Read a table; None for a virtual one whose SQLite module is not installed."""
    from sqlalchemy.exc import DBAPIError

    try:
        keys = inspector.get_pk_constraint(table)["constrained_columns"]
    except DBAPIError as error:
        if "no such module" not in str(error.orig):
            raise
        log.warning("The table %s cannot be read and is left out (%s).", table, error.orig)
        return None
    references = {
        column: f"{foreign['referred_table']}.{referred}"
        for foreign in inspector.get_foreign_keys(table)
        for column, referred in zip(
            foreign["constrained_columns"], foreign["referred_columns"], strict=False
        )
    }
    fields = tuple(
        replace(field, key=field.name in keys, references=references.get(field.name, ""))
        for field in _read_fields(inspector, table)
    )
    return Entity(name=table, kind="table", fields=fields)


def _read_view(engine: "Engine", inspector: "Inspector", view: str) -> Entity | None:
    """Read a view; without types if its definition is not readable (MariaDB).

    Returns:
        The view; None if it cannot be read, for example because its table was deleted.
    """
    from sqlalchemy import literal_column, select, table
    from sqlalchemy.exc import DBAPIError

    try:
        fields = _read_fields(inspector, view)
    except DBAPIError:
        empty: Select[tuple[object]] = select(literal_column("*")).select_from(table(view)).limit(0)
        try:
            with engine.connect() as connection:
                names = list(connection.execute(empty).keys())
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            log.warning("The view %s cannot be read and is left out (%s).", view, error.orig)
            return None
        fields = tuple(Field(name=name, type="") for name in names)
    return Entity(name=view, kind="view", fields=fields)


def _read_fields(inspector: "Inspector", table: str) -> tuple[Field, ...]:
    from sqlalchemy.types import NullType

    return tuple(
        Field(
            name=column["name"],
            type="" if isinstance(column["type"], NullType) else str(column["type"]),
            comment=shorten(" ".join((column.get("comment") or "").split()), _LONGEST_COMMENT),
        )
        for column in inspector.get_columns(table)
    )


def add_data(schema: Schema, quote: Quote, read: Read) -> Schema:
    """Add row counts, sample values and references found in the data, inside a time limit."""
    deadline = time.monotonic() + _SECONDS

    def read_bounded(query: str) -> QueryResult | None:
        left = min(_SECONDS_EACH, deadline - time.monotonic())
        return read(query, left) if left > 0 else None

    entities = tuple(_add_counts(entity, quote, read_bounded) for entity in schema.entities)
    return add_found_references(replace(schema, entities=entities), quote, read_bounded)


def _add_counts(entity: Entity, quote: Quote, read: Find) -> Entity:
    """Add the row count of a table, and samples of its columns that may have texts or dates."""
    table = quote(entity.name)
    counted = read(f"SELECT COUNT(*) FROM {table}")  # noqa: S608 (quoted names of the catalogue)
    count = counted.rows[0][0] if counted else None
    fields = tuple(
        replace(field, samples=_read_samples(read, table, quote(field.name)))
        if any(word in field.type.lower() for word in _TEXT_TYPES) or not field.type
        else field
        for field in entity.fields
    )
    return replace(entity, count=count if isinstance(count, int) else None, fields=fields)


def _read_samples(read: Find, table: str, column: str) -> tuple[str, ...]:
    found = read(
        f"SELECT DISTINCT {column} FROM (SELECT {column} FROM {table} LIMIT {_SAMPLED_ROWS}) AS t "  # noqa: S608
        f"WHERE {column} IS NOT NULL LIMIT {_SAMPLES}"
    )
    return tuple(cell_text(row[0]) for row in found.rows) if found else ()
