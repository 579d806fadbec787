"""Request bodies: read up to a limit, parsed as a JSON object, validated by a model."""

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from planweave import BadInput
from planweave.errors import first_problem

Model = TypeVar("Model", bound=BaseModel)
_MAX_DIGITS = 20


class NotJson(BadInput):
    """A body that is not JSON."""


async def read_bytes(request: Request, max_bytes: int) -> bytes:
    """Read the body of a request, of at most ``max_bytes`` bytes."""
    parts = bytearray()
    async for part in request.stream():
        parts += part
        if len(parts) > max_bytes:
            raise BadInput(f"The request is larger than {max_bytes:,} bytes.", fix="Send less.")
    return bytes(parts)


def parse_object(sent: bytes) -> dict[str, Any]:
    """Parse a JSON object."""
    try:
        found = json.loads(sent, parse_constant=_refuse_constant, parse_int=_parse_int)
        if b"\\u" in sent:  # half of a surrogate pair, which cannot be encoded
            json.dumps(found, ensure_ascii=False).encode()
    except BadInput:  # it is a ValueError, too
        raise
    except (ValueError, RecursionError):
        raise NotJson("The request is not valid JSON.") from None
    if not isinstance(found, dict):
        raise BadInput("The request is not a JSON object.")
    return found


def validate(model: type[Model], sent: Any, what: str = "The request") -> Model:
    """Validate what was sent, and return it as an instance of ``model``."""
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise BadInput(f"{what} cannot be used: {first_problem(error)}.") from None


def _parse_int(digits: str) -> int:
    """Parse an integer that fits into the 64 bits of the stores."""
    if len(digits) > _MAX_DIGITS or not -(2**63) <= int(digits) < 2**64:
        raise BadInput("An integer in the request is too large.", fix="Send it as a string.")
    return int(digits)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")
