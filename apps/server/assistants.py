"""The methods as the protocol's assistants: one for each, with its schemas and its graph."""

from functools import cache
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from planweave.apps.server.errors import NotFound
from planweave.apps.service import service
from planweave.graphs import METHODS
from planweave.texts import shorten

_SINCE = "2026-01-01T00:00:00+00:00"


def assistant_id(name: str) -> str:
    """The id of a method's assistant, the same in every process."""
    return str(uuid5(NAMESPACE_URL, f"planweave:{name}"))


def method_of(identifier: str) -> str:
    """The method of an assistant's id or of a method's name."""
    for name in service().methods:
        if identifier in (name, assistant_id(name)):
            return name
    raise NotFound(
        f"There is no assistant {shorten(identifier, 64)!r}.",
        fix=f"The methods are: {', '.join(service().methods)}.",
    )


@cache
def assistant(name: str) -> dict[str, Any]:
    """A method as an assistant of the protocol."""
    return {
        "assistant_id": assistant_id(name),
        "graph_id": name,
        "name": name,
        "description": METHODS.get(name).description,
        "config": {},
        "context": {},
        "metadata": {"created_by": "system"},
        "created_at": _SINCE,
        "updated_at": _SINCE,
        "version": 1,
    }


@cache
def schemas(name: str) -> dict[str, Any]:
    """The JSON schemas of a method's input, output, state and context."""
    config = {"config_schema": {"type": "object", "properties": {}}}
    return _schemas(name, METHODS.get(name).graph) | config


def subgraphs(name: str, wanted: str = "") -> dict[str, Any]:
    """The JSON schemas of a method's subgraphs by name; only of ``wanted`` if set."""
    found = METHODS.get(name).builder.subgraphs()
    return {part: _schemas(part, one) for part, one in found.items() if wanted in ("", part)}


def _schemas(name: str, graph: Any) -> dict[str, Any]:
    output = graph.get_output_jsonschema()
    return {
        "graph_id": name,
        "input_schema": graph.get_input_jsonschema(),
        "output_schema": output,
        "state_schema": output,  # the output is the whole working memory
        "context_schema": graph.get_context_jsonschema(),
    }


def drawing(name: str, xray: int | bool) -> dict[str, Any]:
    """Nodes and edges of a method's graph."""
    drawn: dict[str, Any] = METHODS.get(name).graph.get_graph(xray=xray).to_json()
    return drawn
