"""What the routes share: reading requests and writing replies."""

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from planweave import BadInput
from planweave.apps.request_body import parse_object
from planweave.apps.server.engine import Engine
from planweave.apps.server.people import Person
from planweave.apps.server.wire import encode

_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""NUL in JSON: PostgreSQL cannot store it."""


def engine(request: Request) -> Engine:
    """The worker of this process."""
    found: Engine = request.app.state.engine
    return found


def person(request: Request) -> Person:
    """The person who sent the request."""
    found: Person = request.state.person
    return found


async def read_body(request: Request) -> dict[str, Any]:
    """Read the JSON object in a request; empty if there is no body."""
    sent = await request.body()
    found = parse_object(sent or b"{}")
    if _NUL.search(sent):
        raise BadInput("The request contains the character NUL.", fix="Leave it out.")
    return found


def reply(value: Any, *, headers: dict[str, str] | None = None) -> Response:
    """Reply with a value as JSON."""
    return Response(encode(value), 200, headers, "application/json")


def no_content() -> Response:
    """Reply without content."""
    return Response(status_code=204)
