"""Threads and their states."""

from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planweave.apps.sent import checked
from planweave.apps.server.requests import Place
from planweave.apps.server.routes.asked import answer, body, engine, nothing, person
from planweave.apps.server.states import States
from planweave.apps.server.threads import Metadata, ThreadQuery, chosen


class NewThread(BaseModel):
    """A thread to be made."""

    thread_id: str | None = Field(default=None, pattern=r"^[\w-]{1,64}$")
    metadata: Metadata | None = None
    if_exists: Literal["raise", "do_nothing"] | None = None


class Notes(BaseModel):
    """Metadata to be added."""

    metadata: Metadata = {}


class StateAsked(BaseModel):
    """The state at a checkpoint."""

    checkpoint: Place = Place()
    subgraphs: bool = False
    select: list[str] | None = None


class StateChange(BaseModel):
    """What is to be written into a state."""

    values: dict[str, Any] | list[dict[str, Any]] | None = None
    as_node: str | None = None
    checkpoint: Place | None = None
    checkpoint_id: str | None = None


class HistoryAsked(BaseModel):
    """Which states of a thread."""

    limit: int = Field(default=10, ge=1, le=1000)
    before: Place | str | None = None
    metadata: Metadata | None = None
    checkpoint: Place = Place()
    select: list[str] | None = None


async def create(request: Request) -> Response:
    """Make a thread."""
    new = checked(NewThread, await body(request))
    lenient = new.if_exists == "do_nothing"
    owner = person(request).owner
    return answer(
        await engine(request).threads.create(
            owner, new.thread_id, new.metadata or {}, lenient=lenient
        )
    )


async def search(request: Request) -> Response:
    """The person's threads that fit."""
    query = checked(ThreadQuery, await body(request))
    owner, threads = person(request).owner, engine(request).threads
    found = await threads.search(owner, query)
    headers = {"X-Pagination-Total": str(await threads.count(owner, query))}
    if len(found) == query.limit:
        headers["X-Pagination-Next"] = str(query.offset + query.limit)
    return answer(found, headers=headers)


async def count(request: Request) -> Response:
    """How many of the person's threads fit."""
    query = checked(ThreadQuery, await body(request))
    return answer(await engine(request).threads.count(person(request).owner, query))


async def get(request: Request) -> Response:
    """One thread."""
    return answer(await engine(request).threads.get(person(request).owner, _name(request)))


async def annotate(request: Request) -> Response:
    """Add to a thread's metadata."""
    notes = checked(Notes, await body(request))
    threads, owner = engine(request).threads, person(request).owner
    thread = await threads.annotate(owner, _name(request), notes.metadata)
    return nothing() if request.headers.get("prefer") == "return=minimal" else answer(thread)


async def delete(request: Request) -> Response:
    """Take a thread away with all that belongs to it."""
    await engine(request).forget(person(request), _name(request))
    return nothing()


async def copy(request: Request) -> Response:
    """Copy a thread with all its states."""
    return answer(await _states(request).copy(_name(request)))


async def state(request: Request) -> Response:
    """The latest state."""
    place = Place(checkpoint_id=request.path_params.get("checkpoint_id"))
    asked = request.query_params
    subgraphs = asked.get("subgraphs", "false").lower() == "true"
    found = await _states(request).get(_name(request), place, subgraphs=subgraphs)
    return answer(_selected(found, asked.getlist("select")))


async def state_at(request: Request) -> Response:
    """The state at a checkpoint."""
    asked = checked(StateAsked, await body(request))
    place, name = asked.checkpoint, _name(request)
    found = await _states(request).get(name, place, subgraphs=asked.subgraphs)
    return answer(_selected(found, asked.select))


async def change(request: Request) -> Response:
    """Write a new state."""
    asked = checked(StateChange, await body(request))
    place = asked.checkpoint or Place(checkpoint_id=asked.checkpoint_id)
    return answer(await _states(request).change(_name(request), place, asked.values, asked.as_node))


async def history(request: Request) -> Response:
    """The states of a thread, the latest first."""
    sent = dict(request.query_params) if request.method == "GET" else await body(request)
    asked = checked(HistoryAsked, sent)
    before = asked.before.checkpoint_id if isinstance(asked.before, Place) else asked.before
    found = await _states(request).history(
        _name(request), asked.checkpoint, limit=asked.limit, before=before, metadata=asked.metadata
    )
    return answer([_selected(one, asked.select) for one in found])


def _selected(state: dict[str, Any], names: list[str] | None) -> dict[str, Any]:
    """The fields of a state that were asked for; ``values.NAME`` is one of its values."""
    if not names:
        return state
    found = chosen(state, names)
    values = [name.removeprefix("values.") for name in names if name.startswith("values.")]
    if values:
        found["values"] = {name: state["values"].get(name) for name in values}
    return found


def _name(request: Request) -> str:
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
