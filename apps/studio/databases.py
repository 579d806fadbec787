"""Databases: connect to one and see what it holds."""

from dataclasses import asdict

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from apps.studio.access import Access
from apps.studio.guard import body
from planweave import BadInput
from tools import open_database

_MOST = 10_000  # bytes of a URL, and more


class Named(BaseModel):
    """The database that a caller wants to see."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    url: str


class Databases:
    """The routes; ``access`` says which databases a caller may name."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def schema(self, request: Request) -> JSONResponse:
        """What the database holds: tables or labels, fields, keys, counts and samples."""
        try:
            named = Named.model_validate_json(await body(request, _MOST))
        except ValidationError:
            raise BadInput("The request names no database.", mend='Send {"url": "…"}.') from None
        url = self._access.url(request, named.url.strip())
        database = await run_in_threadpool(open_database, url)
        schema = await run_in_threadpool(database.schema)
        return JSONResponse({"kind": database.kind, **asdict(schema)})
