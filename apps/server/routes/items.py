"""Long-term memory: items of the store.

Where several people use the server, each has the namespace ``("owners", NAME)`` and what is below
it, in which the methods keep what they have learnt from this person.
"""

from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planweave import BadInput
from planweave.apps.sent import checked
from planweave.apps.server.errors import RequestRefused
from planweave.apps.server.routes.asked import answer, body, engine, nothing, person
from planweave.apps.server.states import plain_filter
from planweave.apps.server.threads import MOST_SKIPPED, Metadata

Label = list[str]


class Forbidden(RequestRefused):
    """A namespace that is somebody else's."""

    status = 403


class Named(BaseModel):
    """One item by its name."""

    namespace: Label = Field(min_length=1)
    key: str = Field(min_length=1, max_length=512)


class NewItem(Named):
    """An item to be kept."""

    value: dict[str, Any]
    index: Literal[False] | list[str] | None = None


class ItemQuery(BaseModel):
    """Which items."""

    namespace_prefix: Label = []
    filter: Metadata | None = None
    limit: int = Field(default=10, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=MOST_SKIPPED)
    query: str | None = None


class NamespaceQuery(BaseModel):
    """Which namespaces."""

    prefix: Label | None = None
    suffix: Label | None = None
    max_depth: int | None = Field(default=None, ge=1, le=100)
    limit: int = Field(default=100, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=MOST_SKIPPED)


async def put(request: Request) -> Response:
    """Keep an item."""
    item = checked(NewItem, await body(request))
    space = _admitted(request, item.namespace)
    await engine(request).storage.store.aput(space, item.key, item.value, item.index)
    return nothing()


async def get(request: Request) -> Response:
    """One item; null if there is none."""
    asked = request.query_params
    space = _admitted(request, asked.get("namespace", "").split("."))
    item = await engine(request).storage.store.aget(space, asked.get("key", ""))
    return answer(item and item.dict())


async def delete(request: Request) -> Response:
    """Forget an item."""
    item = checked(Named, await body(request))
    space = _admitted(request, item.namespace)
    await engine(request).storage.store.adelete(space, item.key)
    return nothing()


async def search(request: Request) -> Response:
    """The items below a namespace that fit."""
    asked = checked(ItemQuery, await body(request))
    space = _admitted(request, asked.namespace_prefix)
    found = await engine(request).storage.store.asearch(
        space,
        query=asked.query,
        filter=plain_filter(asked.filter),
        limit=asked.limit,
        offset=asked.offset,
    )
    # The store compares namespaces as text: "alice" would also find "alice2".
    own = [item.dict() for item in found if item.namespace[: len(space)] == space]
    return answer({"items": own})


async def namespaces(request: Request) -> Response:
    """The namespaces that there are."""
    asked = checked(NamespaceQuery, await body(request))
    space, suffix = _admitted(request, asked.prefix or []), asked.suffix or []
    _check_labels(suffix)
    found = await engine(request).storage.store.alist_namespaces(
        prefix=space or None,
        suffix=tuple(suffix) or None,
        max_depth=asked.max_depth,
        limit=asked.limit,
        offset=asked.offset,
    )
    return answer({"namespaces": [one for one in found if one[: len(space)] == space]})


def _check_labels(space: Label) -> None:
    if any(not label or "." in label or "\0" in label for label in space):
        raise BadInput("The parts of a namespace are words without a full stop.")


def _admitted(request: Request, space: Label) -> tuple[str, ...]:
    """A namespace of this person's; the empty one stands for all that are."""
    _check_labels(space)
    who = person(request)
    own = ("owners", who.owner)
    if not who.shared or tuple(space[:2]) == own:
        return tuple(space)
    if not space:
        return own
    raise Forbidden("This namespace is not yours.", fix=f"Yours begin with owners and {who.owner}.")


ROUTES = [
    Route("/store/items", put, methods=["PUT"]),
    Route("/store/items", get, methods=["GET"]),
    Route("/store/items", delete, methods=["DELETE"]),
    Route("/store/items/search", search, methods=["POST"]),
    Route("/store/namespaces", namespaces, methods=["POST"]),
]
