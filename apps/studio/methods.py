"""The methods: what each does, its graph, and the settings that they all share."""

from functools import cache
from typing import Any

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave.apps.options import context_of
from planweave.apps.sent import body, json_object
from planweave.apps.studio.access import Access
from planweave.apps.studio.settings import form
from planweave.graphs import METHODS
from planweave.graphs.support.choice import choose
from planweave.memory import BOUND_TOOL, OWN_TOOLS

_TOOLS = (*OWN_TOOLS, BOUND_TOOL, "tools")
_MOST = 100_000  # bytes of settings
_DECISIVE = (
    *("model", "models", "database", "graph", "collection", "web_search", "assist", "approve"),
    *("experience", "evaluations"),
)
"""Settings that decide which method answers by default."""
_GROUPS = {"documents": "documents", "write": "documents", "hops": "documents", "act": "act"}
"""The group of a family on the page; what is in none of these decides."""


class Methods:
    """The routes; ``access`` says what a caller may choose from."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def listed(self, request: Request) -> JSONResponse:
        """Every method with its description, the form of the settings, and what is offered."""
        methods = [METHODS.get(name) for name in METHODS.names()]
        listed = [
            {
                "name": method.name,
                "description": method.description,
                "group": _GROUPS.get(method.family, "decide"),
            }
            for method in methods
        ]
        offered = self._access.offered(request)
        return JSONResponse({"methods": listed, "settings": form(), "offered": offered})

    async def choice(self, request: Request) -> JSONResponse:
        """Which method answers with these settings when nobody names one, and why."""
        sent = json_object(await body(request, _MOST))
        kept = {name: sent[name] for name in _DECISIVE if sent.get(name)}
        chosen = choose(context_of(self._access.service().context.model_dump() | kept))
        return JSONResponse(chosen._asdict())


def graph(request: Request) -> JSONResponse:
    """The nodes and edges of a method, and those of its subgraphs by the nodes that hold them."""
    return JSONResponse(_graph(request.path_params["name"]))


@cache
def _graph(name: str) -> dict[str, JsonValue]:
    method = METHODS.get(name)
    inside = {part: _drawn(graph) for part, graph in method.builder.subgraphs().items()}
    return _drawn(method.graph) | {"subgraphs": dict(inside)}


def _drawn(graph: Any) -> dict[str, JsonValue]:
    drawn = graph.get_graph()
    return {
        "nodes": [{"id": node, "tool": node in _TOOLS} for node in drawn.nodes],
        "edges": [
            {
                "source": edge.source,
                "target": edge.target,
                "label": str(edge.data) if edge.data else "",
                "conditional": edge.conditional,
            }
            for edge in drawn.edges
        ],
    }
