"""The methods: what each does, its graph, and the settings that they all share."""

from functools import cache
from typing import Any

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave.apps.options import context_of
from planweave.apps.request_body import parse_object, read_bytes
from planweave.apps.studio.access import Access
from planweave.graphs import METHODS
from planweave.graphs.support.choice import choose
from planweave.memory import BOUND_TOOL, OWN_TOOLS, Context, settings

_TOOLS = (*OWN_TOOLS, BOUND_TOOL, "tools")
_MAX_BYTES = 100_000  # bytes of settings
_DECISIVE = (
    *("model", "models", "database", "graph", "collection", "web_search", "assist", "approve"),
    *("experience", "evaluations"),
)
"""Settings that decide which method answers by default."""
_GROUPS = {"documents": "documents", "write": "documents", "hops": "documents", "act": "act"}
"""The group of a family on the page; other families are in the group ``decide``."""


class Methods:
    """The routes; ``access`` says what a caller may choose from."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def listed(self, request: Request) -> JSONResponse:
        """Every method with its description, the form of the settings, and the offered names."""
        listed = [
            {
                "name": method.name,
                "description": method.description,
                "group": _GROUPS.get(method.family, "decide"),
            }
            for method in METHODS.usable().values()
        ]
        offered = self._access.offered(request)
        return JSONResponse({"methods": listed, "settings": form(), "offered": offered})

    async def choice(self, request: Request) -> JSONResponse:
        """The method that answers with these settings if none is named, and the reason."""
        sent = parse_object(await read_bytes(request, _MAX_BYTES))
        given = {name: sent[name] for name in _DECISIVE if sent.get(name)}
        chosen = choose(context_of(self._access.service().context.model_dump() | given))
        return JSONResponse(chosen._asdict())


def graph(request: Request) -> JSONResponse:
    """The nodes and edges of a method, and of its subgraphs by node."""
    return JSONResponse(_graph(request.path_params["name"]))


@cache
def _graph(name: str) -> dict[str, JsonValue]:
    method = METHODS.get(name)
    inside = {part: _graph_json(graph) for part, graph in method.builder.subgraphs().items()}
    return _graph_json(method.graph) | {"subgraphs": dict(inside)}


def _graph_json(graph: Any) -> dict[str, JsonValue]:
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


_FIRST = ("Sources", "Model", "Plan", "Reading", "Budget")
_LAST = "More"
_QUERYING = ("sql", "cypher", "member")
_SEARCHING = ("search", "retriever", "member")
_READ_BY: dict[str, tuple[str, ...]] = {
    "approve": ("plan_approval",),
    "replan": ("replanner",),
    "evaluations": ("evaluator",),
    "experience": ("experience",),
    **dict.fromkeys(("database", "graph", "query_seconds", "query_rows"), _QUERYING),
    **dict.fromkeys(("query_candidates", "least_answerable", "confirmed_queries"), _QUERYING),
    **dict.fromkeys(("pages", "search"), _SEARCHING),
    "approve_tools": ("bound_tool", "member"),
    "parallel": ("replanner", "member"),
}
"""Settings that only some methods of several families read, and the nodes of these methods."""


@cache
def form() -> dict[str, JsonValue]:
    """The context's JSON schema, and its fields in groups with the methods that read them."""
    known = dict.fromkeys(
        (*_FIRST, *(one.group for one in settings().values() if one.group != _LAST))
    )
    return {
        "schema": Context.model_json_schema(),
        "groups": [_group(title) for title in (*known, _LAST)],
        "only": _readers(),
    }


def _readers() -> dict[str, JsonValue]:
    """The methods that read a setting, for each setting that only some read."""
    nodes = {name: one.builder.all_nodes() for name, one in METHODS.usable().items()}
    return {
        setting: [name for name, its in nodes.items() if not its.isdisjoint(read_by)]
        for setting, read_by in _READ_BY.items()
    }


def _group(title: str) -> dict[str, JsonValue]:
    fields = {name: one for name, one in settings().items() if one.group == title}
    families = {family for one in fields.values() for family in one.families}
    for_all = any(not one.families for one in fields.values())
    methods = (
        [] if for_all else [n for n, one in METHODS.usable().items() if one.family in families]
    )
    return {"title": title, "fields": [*fields], "methods": [*methods]}
