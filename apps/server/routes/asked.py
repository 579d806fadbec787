"""What every route reads from a request, and how it answers."""

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from planweave import BadInput
from planweave.apps.sent import json_object
from planweave.apps.server.engine import Engine
from planweave.apps.server.people import Person
from planweave.apps.server.wire import encode

_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""NUL as JSON writes it: PostgreSQL cannot keep it."""


def engine(request: Request) -> Engine:
    """The worker of this process."""
    found: Engine = request.app.state.engine
    return found


def person(request: Request) -> Person:
    """Who asks."""
    found: Person = request.state.person
    return found


async def body(request: Request) -> dict[str, Any]:
    """The JSON object in a request; an empty one if it has no body."""
    sent = await request.body()
    found = json_object(sent or b"{}")
    if _NUL.search(sent):
        raise BadInput("The request holds the character NUL.", fix="Leave it out.")
    return found


def answer(value: Any, *, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(encode(value), 200, headers, "application/json")


def nothing() -> Response:
    """Done, and nothing to say."""
    return Response(status_code=204)
