"""The table of threads; only the owner of a thread can see it."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from langchain_core.utils.uuid import uuid7
from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, select, update
from sqlalchemy.engine import RowMapping
from sqlalchemy.exc import IntegrityError

from planweave import BadInput
from planweave.apps.server import tables
from planweave.apps.server.database import Repository, transaction
from planweave.apps.server.errors import Conflict, NotFound
from planweave.apps.server.tables import now, threads
from planweave.apps.server.wire import decode, iso

ThreadStatus = Literal["idle", "busy", "interrupted", "error"]
SortBy = Literal["thread_id", "status", "created_at", "updated_at", "state_updated_at"]

Metadata = Annotated[dict[str, Any], Field(max_length=100)]
"""Metadata or a filter; limited, as each name slows every step of a run, or a search."""

MAX_OFFSET = 2**31 - 1
"""The highest offset of a search."""


class ThreadQuery(BaseModel):
    """A search for threads."""

    metadata: Metadata | None = None
    values: dict[str, Any] | None = None
    ids: list[str] | None = None
    status: ThreadStatus | None = None
    limit: int = Field(default=10, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)
    sort_by: SortBy | None = None
    sort_order: Literal["asc", "desc"] = "desc"
    select: list[str] | None = None


class Threads(Repository):
    """Reads and writes the table; each method is a transaction (errors: see ``Runs``)."""

    @transaction
    def create(
        self,
        connection: Connection,
        owner: str,
        thread_id: str | None,
        metadata: Mapping[str, Any],
        *,
        may_exist: bool,
    ) -> dict[str, Any]:
        """Make a thread."""
        name = thread_id or str(uuid7())
        try:
            with connection.begin_nested():
                add_thread(connection, owner, name, metadata)
        except IntegrityError:
            if not may_exist:
                raise Conflict(
                    "A thread of this name exists.", fix="Choose another name."
                ) from None
        return thread_json(find_thread(connection, owner, name))

    @transaction
    def get(self, connection: Connection, owner: str, thread_id: str) -> dict[str, Any]:
        """A thread as JSON of the protocol."""
        return thread_json(find_thread(connection, owner, thread_id))

    @transaction
    def search(
        self, connection: Connection, owner: str, query: ThreadQuery
    ) -> list[dict[str, Any]]:
        """The owner's threads that match."""
        column = threads.c[query.sort_by or "created_at"]
        order = column.asc() if query.sort_order == "asc" else column.desc()
        asked = _filtered(select(threads), owner, query).order_by(order)
        rows = connection.execute(asked.limit(query.limit).offset(query.offset))
        return [select_fields(thread_json(row), query.select) for row in rows.mappings()]

    @transaction
    def count(self, connection: Connection, owner: str, query: ThreadQuery) -> int:
        """The number of the owner's threads that match."""
        asked = _filtered(select(func.count()).select_from(threads), owner, query)
        return int(connection.execute(asked).scalar_one())

    @transaction
    def annotate(
        self, connection: Connection, owner: str, thread_id: str, metadata: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Add to a thread's metadata."""
        lock_thread(connection, owner, thread_id)
        row = find_thread(connection, owner, thread_id)
        merged = row["metadata"] | check_metadata(metadata)
        connection.execute(_update_thread(thread_id).values(metadata=merged))
        return thread_json(find_thread(connection, owner, thread_id))

    @transaction
    def save_state(self, connection: Connection, thread_id: str, state: Mapping[str, Any]) -> None:
        """Save the latest state of a thread for searches."""
        connection.execute(_update_thread(thread_id).values(state_updated_at=now(), **state))

    @transaction
    def delete(self, connection: Connection, owner: str, thread_id: str) -> None:
        """Delete a thread with its runs and events."""
        lock_thread(connection, owner, thread_id)
        row = find_thread(connection, owner, thread_id)
        if row["status"] == "busy":
            raise Conflict("The thread is busy.", fix="Cancel its runs first.")
        remove_thread(connection, thread_id)


def add_thread(
    connection: Connection,
    owner: str,
    thread_id: str | None,
    metadata: Mapping[str, Any],
    *,
    status: ThreadStatus = "idle",
    temporary: bool = False,
) -> str:
    """Make a thread in a transaction; return its id."""
    thread_id = thread_id or str(uuid7())
    times = {name: now() for name in ("created_at", "updated_at", "state_updated_at")}
    connection.execute(
        insert(threads).values(
            thread_id=thread_id,
            owner=owner,
            metadata=check_metadata(metadata),
            status=status,
            temporary=temporary,
            **times,
        )
    )
    return thread_id


def find_thread(connection: Connection, owner: str, thread_id: str) -> RowMapping:
    """The row of the owner's thread."""
    asked = select(threads).where(threads.c.thread_id == thread_id, threads.c.owner == owner)
    row = connection.execute(asked).mappings().first()
    if row is None:
        raise NotFound(f"Thread with ID {thread_id} not found.")
    return row


def lock_thread(connection: Connection, owner: str, thread_id: str) -> None:
    """Lock the thread until this transaction ends."""
    owned = (threads.c.thread_id == thread_id, threads.c.owner == owner)
    connection.execute(update(threads).where(*owned).values(updated_at=now()))


def remove_thread(connection: Connection, thread_id: str) -> None:
    """Delete a thread in a transaction, with its runs, events and calls."""
    own_runs = select(tables.runs.c.run_id).where(tables.runs.c.thread_id == thread_id)
    for table in (tables.events, tables.calls, tables.reserved):
        connection.execute(delete(table).where(table.c.run_id.in_(own_runs)))
    connection.execute(delete(tables.runs).where(tables.runs.c.thread_id == thread_id))
    connection.execute(delete(threads).where(threads.c.thread_id == thread_id))


def thread_json(row: RowMapping) -> dict[str, Any]:
    """A thread as JSON of the protocol."""
    return {
        "thread_id": row["thread_id"],
        **{name: iso(row[name]) for name in ("created_at", "updated_at", "state_updated_at")},
        "metadata": row["metadata"],
        "status": row["status"],
        "config": {},
        "values": decode(row["values"]) if row["values"] else None,
        "interrupts": decode(row["interrupts"]) if row["interrupts"] else {},
        **({"error": decode(row["error"])} if row["error"] else {}),
    }


def select_fields(record: dict[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    """The requested fields of a record; all fields if none is named."""
    return {name: record[name] for name in names if name in record} if names else record


def check_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Check that metadata can be stored; return a copy."""
    if "\\u0000" in json.dumps(metadata):
        raise BadInput("Metadata may not contain the character NUL.")
    return dict(metadata)


def _update_thread(thread_id: str) -> Any:
    return update(threads).where(threads.c.thread_id == thread_id)


def _filtered(asked: Select[Any], owner: str, query: ThreadQuery) -> Select[Any]:
    asked = asked.where(threads.c.owner == owner, threads.c.temporary.is_(False))
    if query.ids:
        asked = asked.where(threads.c.thread_id.in_(query.ids))
    if query.status:
        asked = asked.where(threads.c.status == query.status)
    if query.values:
        raise BadInput("Threads cannot be searched by their values.", fix="Search by metadata.")
    for name, value in (query.metadata or {}).items():
        asked = asked.where(_metadata_equals(name, value))
    return asked


def _metadata_equals(name: str, value: Any) -> ColumnElement[bool]:
    found: Any = threads.c.metadata[name]
    equal: ColumnElement[bool] | None = None
    match value:
        case bool():
            equal = found.as_boolean() == value
        case int() if abs(value) < 2**63:
            equal = found.as_integer() == value
        case str():
            equal = found.as_string() == value
    if equal is None:
        raise BadInput(
            f"Threads cannot be searched by the metadata {name!r}.",
            fix="Give a string, an integer, true or false.",
        )
    return equal
