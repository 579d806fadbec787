"""Databases: upload a file as one, connect to one, see what it holds, and ask it."""

from dataclasses import asdict
from math import isfinite
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave.apps.sent import body, checked, json_object
from planweave.apps.studio.access import Access
from planweave.apps.studio.guard import asked
from planweave.apps.studio.samples import sample_database
from planweave.apps.studio.uploads import Uploads, file_name
from planweave.apps.turns import Turns
from planweave.tools import Database, Limits, open_database
from planweave.tools.database import Cell
from planweave.tools.documents.store import settings
from planweave.tools.example_questions import about_database
from planweave.tools.files import KINDS, kept
from planweave.tools.result_text import cell_text

_MOST = 20_000  # bytes of a URL and a query
_CHARACTERS = 100_000
_SAFE = 2**53  # larger integers JavaScript rounds


class Named(BaseModel, extra="forbid", hide_input_in_errors=True):
    """The database that a caller wants to see."""

    url: str


class Queried(Named):
    """What a caller wants to know from it."""

    query: str


N = TypeVar("N", bound=Named)


class Databases:
    """The routes; ``access`` says which databases a caller may name."""

    def __init__(self, access: Access, uploads: Uploads) -> None:
        self._access = access
        self._uploads = uploads
        self._turns = Turns()
        self._opening = Turns()

    def listed(self, request: Request) -> JSONResponse:
        """The databases that a caller has uploaded, what can be uploaded, and how large."""
        owner = self._access.owner(request)
        return JSONResponse(
            {
                "databases": [_described(one, owner) for one in kept.databases(owner)],
                "kinds": KINDS,
                "most_bytes": settings().limits().bytes,
            }
        )

    async def upload(self, request: Request) -> JSONResponse:
        """Keep the request's body, a file, as a database, or as tables of one (``into``)."""
        name, into = file_name(asked(request, "name"), KINDS), request.query_params.get("into", "")
        owner = self._access.owner(request)
        made = await self._uploads.taken(
            request, name, lambda path: kept.keep(path, name, owner, into=into)
        )
        return JSONResponse(_described(made, owner))

    def sample(self, request: Request) -> JSONResponse:
        """Make the sample database, if the caller does not have it."""
        owner = self._access.owner(request)
        return JSONResponse({"url": kept.url_of(sample_database(owner), owner)})

    def remove(self, request: Request) -> JSONResponse:
        """Delete a database of the caller's own."""
        kept.delete(asked(request, "name"), self._access.owner(request))
        return JSONResponse({})

    async def questions(self, request: Request) -> JSONResponse:
        """Questions that the database can answer, made from its schema without a model."""
        database = await self._opened(request, await _sent(request, Named))
        found = await run_in_threadpool(about_database, database)
        return JSONResponse({"questions": found})

    async def schema(self, request: Request) -> JSONResponse:
        """What the database holds: tables or labels, fields, keys, counts and samples."""
        database = await self._opened(request, await _sent(request, Named))
        schema = await run_in_threadpool(database.schema)
        return JSONResponse({"kind": database.kind, **asdict(schema)})

    async def query(self, request: Request) -> JSONResponse:
        """The rows of a query, which passes the same guard and limits as one that a model wrote."""
        queried = await _sent(request, Queried)
        database = await self._opened(request, queried)
        context = self._access.service().context
        limits = Limits(
            seconds=context.query_seconds,
            rows=context.query_rows,
            characters=_CHARACTERS,
            owner=self._access.owner(request) or "",
        )
        async with self._turns.of(limits.owner):  # waiting takes no thread from the others
            result = await run_in_threadpool(database.run, queried.query, limits)
        return JSONResponse(
            {
                "columns": result.columns,
                "rows": [[_shown(cell) for cell in row] for row in result.rows],
                "total_rows": result.total_rows,
                "seconds": result.seconds,
                "hint": result.hint,
            }
        )

    async def _opened(self, request: Request, named: Named) -> Database:
        url = self._access.url(request, named.url.strip())
        async with self._opening.of(self._access.owner(request) or ""):  # a server may be silent
            return await run_in_threadpool(open_database, url)


async def _sent(request: Request, kind: type[N]) -> N:
    return checked(kind, json_object(await body(request, _MOST)))


def _described(one: kept.Kept, owner: str | None) -> dict[str, Any]:
    """A database as the page lists it, with the name or path under which it is asked."""
    return {**asdict(one), "url": kept.url_of(one.name, owner)}


def _shown(cell: Cell) -> Cell:
    """A cell as the page shows it: what JavaScript would round, or JSON does not know, as text."""
    match cell:
        case float():
            return cell if isfinite(cell) else str(cell)
        case int():
            return cell if abs(cell) <= _SAFE else str(cell)
        case list() | dict():
            return cell_text(cell)
    return cell
