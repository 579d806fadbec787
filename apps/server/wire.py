"""Encoding of states, events and times on the wire."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from langgraph.types import Interrupt
from pydantic import BaseModel
from starlette.responses import JSONResponse

from planweave.apps.protocols.wire import openai_error

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


class WireEvent(NamedTuple):
    """One event of a run's stream."""

    run_id: str
    number: int  # grows within a run, also from one attempt to the next
    name: str  # of the LangGraph server's protocol; the last event is `end`
    data: str


def encode(value: Any) -> bytes:
    """Encode a value as JSON: messages as dictionaries, unknown types as strings."""
    try:
        return orjson.dumps(value, _plain, _OPTIONS)
    except TypeError:  # a huge integer, or half of a surrogate pair
        return json.dumps(value, default=_plain).encode()


def decode(text: str | bytes) -> Any:
    """Decode JSON of :func:`encode`."""
    return json.loads(text)


def iso(seconds: float | None) -> str | None:
    """A time in the protocol's format."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def sse(event: WireEvent) -> bytes:
    """An event as the lines of an event stream."""
    return f"id: {event.number}\nevent: {event.name}\ndata: {event.data}\n\n".encode()


def refusal(
    path: str, status: int, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An error in the format of the path's protocol."""
    shape = openai_error(status, message) if path.startswith("/v1/") else {"detail": message}
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
