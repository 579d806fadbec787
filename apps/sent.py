"""What a caller sent: read up to a limit, as a JSON object, checked by the model of it."""

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from planweave import BadInput
from planweave.errors import first_problem

Model = TypeVar("Model", bound=BaseModel)
_MOST_DIGITS = 20


async def body(request: Request, most: int) -> bytes:
    """The body of a request, of ``most`` bytes at most."""
    parts = bytearray()
    async for part in request.stream():
        parts += part
        if len(parts) > most:
            raise BadInput(f"What was sent is larger than {most:,} bytes.", fix="Send less.")
    return bytes(parts)


def json_object(sent: bytes) -> dict[str, Any]:
    """What was sent as JSON, if it is an object."""
    try:
        found = json.loads(sent, parse_constant=_refused, parse_int=_whole)
        if b"\\u" in sent:  # half of a surrogate pair, which nothing can keep or send
            json.dumps(found, ensure_ascii=False).encode()
    except BadInput:  # a ValueError, too
        raise
    except (ValueError, RecursionError):
        raise BadInput("The request is no JSON.") from None
    if not isinstance(found, dict):
        raise BadInput("The request is no JSON object.")
    return found


def checked(model: type[Model], sent: Any, what: str = "The request") -> Model:
    """What was sent, as the model of it."""
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise BadInput(f"{what} cannot be used: {first_problem(error)}.") from None


def _whole(digits: str) -> int:
    """A whole number that can be kept: stores have 64 bits for one."""
    if len(digits) > _MOST_DIGITS or not -(2**63) <= int(digits) < 2**64:
        raise BadInput("A whole number of the request is too large.", fix="Send it as a text.")
    return int(digits)


def _refused(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")
