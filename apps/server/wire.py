"""How states, events and times are written on the wire."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from langgraph.types import Interrupt
from pydantic import BaseModel
from starlette.responses import JSONResponse

from planweave.apps.embed.wire import openai_error

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


class WireEvent(NamedTuple):
    """One event of a run's stream."""

    run_id: str
    number: int  # grows within a run, also from one attempt to the next
    name: str  # as in the LangGraph server's protocol; `end` is the last one
    data: str


def encode(value: Any) -> bytes:
    """Write a value as JSON: messages as dictionaries, what JSON does not know as text."""
    try:
        return orjson.dumps(value, _plain, _OPTIONS)
    except TypeError:  # a huge integer, or half a surrogate pair in a text from outside
        return json.dumps(value, default=_plain).encode()


def decode(text: str | bytes) -> Any:
    """Read JSON that :func:`encode` has written."""
    return json.loads(text)


def iso(seconds: float | None) -> str | None:
    """A time as the protocol writes it."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def sse(event: WireEvent) -> bytes:
    """An event as the lines of an event stream."""
    return f"id: {event.number}\nevent: {event.name}\ndata: {event.data}\n\n".encode()


def refusal(
    path: str, status: int, told: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An error in the words of the protocol whose path was asked."""
    shape = openai_error(status, told) if path.startswith("/v1/") else {"detail": told}
    return JSONResponse(shape, status, headers)


def _plain(value: Any) -> Any:
    if isinstance(value, Interrupt):
        schema = value.response_schema
        return {"value": value.value, "id": value.id} | (
            {"response_schema": schema} if schema else {}
        )
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return str(value)
