"""Long-term memory: items of the store.

On a server with users, each has the namespace ``("owners", NAME)`` and its children, where the
methods store what they have learned from this person.
"""

from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planweave import BadInput
from planweave.apps.request_body import validate
from planweave.apps.server.errors import RequestRefused
from planweave.apps.server.routes.common import engine, no_content, person, read_body, reply
from planweave.apps.server.states import plain_filter
from planweave.apps.server.threads import MAX_OFFSET, Metadata

Label = list[str]


class Forbidden(RequestRefused):
    """A namespace of another user."""

    status = 403


class ItemKey(BaseModel):
    """Namespace and key of an item."""

    namespace: Label = Field(min_length=1)
    key: str = Field(min_length=1, max_length=512)


class NewItem(ItemKey):
    """An item to store."""

    value: dict[str, Any]
    index: Literal[False] | list[str] | None = None


class ItemQuery(BaseModel):
    """A search for items."""

    namespace_prefix: Label = []
    filter: Metadata | None = None
    limit: int = Field(default=10, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)
    query: str | None = None


class NamespaceQuery(BaseModel):
    """A search for namespaces."""

    prefix: Label | None = None
    suffix: Label | None = None
    max_depth: int | None = Field(default=None, ge=1, le=100)
    limit: int = Field(default=100, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)


async def put(request: Request) -> Response:
    """Store an item."""
    item = validate(NewItem, await read_body(request))
    space = _check_namespace(request, item.namespace)
    await engine(request).storage.store.aput(space, item.key, item.value, item.index)
    return no_content()


async def get(request: Request) -> Response:
    """One item; null if there is none."""
    asked = request.query_params
    for name in ("namespace", "key"):
        if not asked.get(name):
            raise BadInput(f"The parameter {name} is missing.")
    space = _check_namespace(request, asked["namespace"].split("."))
    item = await engine(request).storage.store.aget(space, asked["key"])
    return reply(item and item.dict())


async def delete(request: Request) -> Response:
    """Delete an item."""
    item = validate(ItemKey, await read_body(request))
    space = _check_namespace(request, item.namespace)
    await engine(request).storage.store.adelete(space, item.key)
    return no_content()


async def search(request: Request) -> Response:
    """The items below a namespace that match."""
    asked = validate(ItemQuery, await read_body(request))
    space = _check_namespace(request, asked.namespace_prefix)
    found = await engine(request).storage.store.asearch(
        space,
        query=asked.query,
        filter=plain_filter(asked.filter),
        limit=asked.limit,
        offset=asked.offset,
    )
    # The store compares namespaces as strings: "alice" also finds "alice2".
    own = [item.dict() for item in found if item.namespace[: len(space)] == space]
    return reply({"items": own})


async def namespaces(request: Request) -> Response:
    """The existing namespaces."""
    asked = validate(NamespaceQuery, await read_body(request))
    space, suffix = _check_namespace(request, asked.prefix or []), asked.suffix or []
    _check_labels(suffix)
    found = await engine(request).storage.store.alist_namespaces(
        prefix=space or None,
        suffix=tuple(suffix) or None,
        max_depth=asked.max_depth,
        limit=asked.limit,
        offset=asked.offset,
    )
    return reply({"namespaces": [one for one in found if one[: len(space)] == space]})


def _check_labels(space: Label) -> None:
    if any(not label or "." in label or "\0" in label for label in space):
        raise BadInput("The parts of a namespace may not be empty or contain a full stop.")


def _check_namespace(request: Request, space: Label) -> tuple[str, ...]:
    """Check that a namespace is the person's own; the empty one becomes their root."""
    _check_labels(space)
    who = person(request)
    own = ("owners", who.owner)
    if not who.shared or tuple(space[:2]) == own:
        return tuple(space)
    if not space:
        return own
    raise Forbidden("This namespace is not yours.", fix=f"Yours begin with owners.{who.owner}.")


ROUTES = [
    Route("/store/items", put, methods=["PUT"]),
    Route("/store/items", get, methods=["GET"]),
    Route("/store/items", delete, methods=["DELETE"]),
    Route("/store/items/search", search, methods=["POST"]),
    Route("/store/namespaces", namespaces, methods=["POST"]),
]
