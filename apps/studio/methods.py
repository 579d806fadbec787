"""The methods: what each does, its graph, and the settings that they all share."""

from functools import cache

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave.apps.studio.access import Access
from planweave.apps.studio.settings import form
from planweave.graphs import METHODS
from planweave.memory import BOUND_TOOL, OWN_TOOLS


class Methods:
    """The routes; ``access`` says what a caller may choose from."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def listed(self, request: Request) -> JSONResponse:
        """Every method with its description, the form of the settings, and what is offered."""
        listed = [
            {"name": name, "description": METHODS.get(name).description} for name in METHODS.names()
        ]
        offered = self._access.offered(request)
        return JSONResponse({"methods": listed, "settings": form(), "offered": offered})


def graph(request: Request) -> JSONResponse:
    """The nodes and edges of a method."""
    return JSONResponse(_graph(request.path_params["name"]))


@cache
def _graph(name: str) -> dict[str, JsonValue]:
    drawn = METHODS.get(name).graph.get_graph()
    return {
        "nodes": [{"id": node, "tool": node in (*OWN_TOOLS, BOUND_TOOL)} for node in drawn.nodes],
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
