"""Threads and their states."""

from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planweave.apps.request_body import validate
from planweave.apps.server.requests import Place
from planweave.apps.server.routes.common import engine, no_content, person, read_body, reply
from planweave.apps.server.states import States
from planweave.apps.server.threads import Metadata, ThreadQuery, select_fields


class NewThread(BaseModel):
    """A new thread."""

    thread_id: str | None = Field(default=None, pattern=r"^[\w-]{1,64}$")
    metadata: Metadata | None = None
    if_exists: Literal["raise", "do_nothing"] | None = None


class NewMetadata(BaseModel):
    """Metadata to add."""

    metadata: Metadata = {}


class StateQuery(BaseModel):
    """The state at a checkpoint."""

    checkpoint: Place = Place()
    subgraphs: bool = False
    select: list[str] | None = None


class StateChange(BaseModel):
    """A change of a state."""

    values: dict[str, Any] | list[dict[str, Any]] | None = None
    as_node: str | None = None
    checkpoint: Place | None = None
    checkpoint_id: str | None = None


class HistoryQuery(BaseModel):
    """A search for states of a thread."""

    limit: int = Field(default=10, ge=1, le=1000)
    before: Place | str | None = None
    metadata: Metadata | None = None
    checkpoint: Place = Place()
    select: list[str] | None = None


async def create(request: Request) -> Response:
    """Make a thread."""
    new = validate(NewThread, await read_body(request))
    may_exist = new.if_exists == "do_nothing"
    owner = person(request).owner
    return reply(
        await engine(request).threads.create(
            owner, new.thread_id, new.metadata or {}, may_exist=may_exist
        )
    )


async def search(request: Request) -> Response:
    """The person's threads that match."""
    query = validate(ThreadQuery, await read_body(request))
    owner, threads = person(request).owner, engine(request).threads
    found = await threads.search(owner, query)
    headers = {"X-Pagination-Total": str(await threads.count(owner, query))}
    if len(found) == query.limit:
        headers["X-Pagination-Next"] = str(query.offset + query.limit)
    return reply(found, headers=headers)


async def count(request: Request) -> Response:
    """The number of the person's threads that match."""
    query = validate(ThreadQuery, await read_body(request))
    return reply(await engine(request).threads.count(person(request).owner, query))


async def get(request: Request) -> Response:
    """One thread."""
    return reply(await engine(request).threads.get(person(request).owner, _thread_id(request)))


async def annotate(request: Request) -> Response:
    """Add to a thread's metadata."""
    notes = validate(NewMetadata, await read_body(request))
    threads, owner = engine(request).threads, person(request).owner
    thread = await threads.annotate(owner, _thread_id(request), notes.metadata)
    return no_content() if request.headers.get("prefer") == "return=minimal" else reply(thread)


async def delete(request: Request) -> Response:
    """Delete a thread with all its data."""
    await engine(request).delete_thread(person(request), _thread_id(request))
    return no_content()


async def copy(request: Request) -> Response:
    """Copy a thread with all its states."""
    return reply(await _states(request).copy(_thread_id(request)))


async def state(request: Request) -> Response:
    """The latest state."""
    place = Place(checkpoint_id=request.path_params.get("checkpoint_id"))
    asked = request.query_params
    subgraphs = asked.get("subgraphs", "false").lower() == "true"
    found = await _states(request).get(_thread_id(request), place, subgraphs=subgraphs)
    return reply(_select_state_fields(found, asked.getlist("select")))


async def state_at(request: Request) -> Response:
    """The state at a checkpoint."""
    asked = validate(StateQuery, await read_body(request))
    place, name = asked.checkpoint, _thread_id(request)
    found = await _states(request).get(name, place, subgraphs=asked.subgraphs)
    return reply(_select_state_fields(found, asked.select))


async def change(request: Request) -> Response:
    """Write a new state."""
    asked = validate(StateChange, await read_body(request))
    place = asked.checkpoint or Place(checkpoint_id=asked.checkpoint_id)
    return reply(
        await _states(request).change(_thread_id(request), place, asked.values, asked.as_node)
    )


async def history(request: Request) -> Response:
    """The states of a thread, latest first."""
    sent = dict(request.query_params) if request.method == "GET" else await read_body(request)
    asked = validate(HistoryQuery, sent)
    before = asked.before.checkpoint_id if isinstance(asked.before, Place) else asked.before
    found = await _states(request).history(
        _thread_id(request),
        asked.checkpoint,
        limit=asked.limit,
        before=before,
        metadata=asked.metadata,
    )
    return reply([_select_state_fields(one, asked.select) for one in found])


def _select_state_fields(state: dict[str, Any], names: list[str] | None) -> dict[str, Any]:
    """The requested fields of a state; ``values.NAME`` is one of its values."""
    if not names:
        return state
    found = select_fields(state, names)
    values = [name.removeprefix("values.") for name in names if name.startswith("values.")]
    if values:
        found["values"] = {name: state["values"].get(name) for name in values}
    return found


def _thread_id(request: Request) -> str:
    return str(request.path_params["thread_id"])


def _states(request: Request) -> States:
    return States(engine(request), person(request))


_ONE = "/threads/{thread_id}"
ROUTES = [
    Route("/threads", create, methods=["POST"]),
    Route("/threads/search", search, methods=["POST"]),
    Route("/threads/count", count, methods=["POST"]),
    Route(_ONE, get, methods=["GET"]),
    Route(_ONE, annotate, methods=["PATCH"]),
    Route(_ONE, delete, methods=["DELETE"]),
    Route(f"{_ONE}/copy", copy, methods=["POST"]),
    Route(f"{_ONE}/state", state, methods=["GET"]),
    Route(f"{_ONE}/state", change, methods=["POST"]),
    Route(f"{_ONE}/state/checkpoint", state_at, methods=["POST"]),
    Route(f"{_ONE}/state/{{checkpoint_id}}", state, methods=["GET"]),
    Route(f"{_ONE}/history", history, methods=["GET", "POST"]),
]
