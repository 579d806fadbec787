"""The methods as assistants, which are read-only."""

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planweave.apps.request_body import validate
from planweave.apps.server.assistants import assistant, drawing, method_of, schemas, subgraphs
from planweave.apps.server.routes.common import read_body, reply
from planweave.apps.server.threads import MAX_OFFSET, select_fields
from planweave.apps.service import service


class AssistantQuery(BaseModel):
    """A search for assistants."""

    graph_id: str | None = None
    name: str | None = None
    metadata: dict[str, object] | None = None
    limit: int = Field(default=10, ge=1, le=1000)
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)
    select: list[str] | None = None


async def search(request: Request) -> Response:
    """The assistants that match."""
    query = validate(AssistantQuery, await read_body(request))
    found = await run_in_threadpool(_matching, query)
    page = [select_fields(one, query.select) for one in found[query.offset :][: query.limit]]
    headers = {"X-Pagination-Total": str(len(found))}
    if query.offset + query.limit < len(found):
        headers["X-Pagination-Next"] = str(query.offset + query.limit)
    return reply(page, headers=headers)


async def count(request: Request) -> Response:
    """The number of assistants that match."""
    query = validate(AssistantQuery, await read_body(request))
    return reply(len(await run_in_threadpool(_matching, query)))


async def get(request: Request) -> Response:
    """One assistant."""
    return reply(await run_in_threadpool(assistant, _method(request)))


async def get_schemas(request: Request) -> Response:
    """Its JSON schemas."""
    return reply(await run_in_threadpool(schemas, _method(request)))


async def get_graph(request: Request) -> Response:
    """Its nodes and edges."""
    asked = request.query_params.get("xray", "false").lower()
    xray = int(asked) if asked.isdecimal() and len(asked) < 3 else asked == "true"
    return reply(await run_in_threadpool(drawing, _method(request), xray))


async def get_subgraphs(request: Request) -> Response:
    """The JSON schemas of its subgraphs, by name."""
    wanted = request.path_params.get("namespace", "")
    return reply(await run_in_threadpool(subgraphs, _method(request), wanted))


def _method(request: Request) -> str:
    return method_of(request.path_params["assistant_id"])


def _matching(query: AssistantQuery) -> list[dict[str, object]]:
    if query.metadata and query.metadata != {"created_by": "system"}:
        return []
    return [
        assistant(name)
        for name in service().methods
        if query.graph_id in (None, name) and (query.name or "").lower() in name
    ]


_ONE = "/assistants/{assistant_id}"
ROUTES = [
    Route("/assistants/search", search, methods=["POST"]),
    Route("/assistants/count", count, methods=["POST"]),
    Route(_ONE, get),
    Route(f"{_ONE}/schemas", get_schemas),
    Route(f"{_ONE}/graph", get_graph),
    Route(f"{_ONE}/subgraphs", get_subgraphs),
    Route(f"{_ONE}/subgraphs/{{namespace}}", get_subgraphs),
]
