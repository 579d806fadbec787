"""Databases: upload a file as a database, connect, read the schema, run a query."""

from dataclasses import asdict
from math import isfinite
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave.apps.locks import NamedLocks
from planweave.apps.request_body import parse_object, read_bytes, validate
from planweave.apps.studio.access import Access
from planweave.apps.studio.guard import parameter
from planweave.apps.studio.samples import sample_database
from planweave.apps.studio.uploads import Uploads, file_name
from planweave.tools import Database, Limits, open_database
from planweave.tools.database import Cell
from planweave.tools.documents.store import settings
from planweave.tools.example_questions import about_database
from planweave.tools.files import KINDS, kept
from planweave.tools.result_text import cell_text

_MAX_BYTES = 20_000  # bytes of a URL and a query
_CHARACTERS = 100_000
_MAX_SAFE_INTEGER = 2**53  # JavaScript rounds larger integers


class DatabaseUrl(BaseModel, extra="forbid", hide_input_in_errors=True):
    """The database that a caller chooses."""

    url: str


class DatabaseQuery(DatabaseUrl):
    """A query to a database."""

    query: str


N = TypeVar("N", bound=DatabaseUrl)


class Databases:
    """The routes; ``access`` says which databases a caller may name."""

    def __init__(self, access: Access, uploads: Uploads) -> None:
        self._access = access
        self._uploads = uploads
        self._query_locks = NamedLocks()
        self._open_locks = NamedLocks()

    def listed(self, request: Request) -> JSONResponse:
        """The databases that a caller has uploaded, and the kinds and size of files for upload."""
        owner = self._access.owner(request)
        return JSONResponse(
            {
                "databases": [_database_json(one, owner) for one in kept.databases(owner)],
                "kinds": KINDS,
                "most_bytes": settings().limits().bytes,
            }
        )

    async def upload(self, request: Request) -> JSONResponse:
        """Save the request's body, a file, as a database, or as tables of the database ``into``."""
        name, into = (
            file_name(parameter(request, "name"), KINDS),
            request.query_params.get("into", ""),
        )
        owner = self._access.owner(request)
        made = await self._uploads.receive(
            request, name, lambda path: kept.keep(path, name, owner, into=into)
        )
        return JSONResponse(_database_json(made, owner))

    def sample(self, request: Request) -> JSONResponse:
        """Make the sample database unless the caller has it."""
        owner = self._access.owner(request)
        return JSONResponse({"url": kept.url_of(sample_database(owner), owner)})

    def remove(self, request: Request) -> JSONResponse:
        """Delete one of the caller's databases."""
        kept.delete(parameter(request, "name"), self._access.owner(request))
        return JSONResponse({})

    async def questions(self, request: Request) -> JSONResponse:
        """Example questions to the database, made from its schema without a model."""
        database = await self._open(request, await _read_body(request, DatabaseUrl))
        found = await run_in_threadpool(about_database, database)
        return JSONResponse({"questions": found})

    async def schema(self, request: Request) -> JSONResponse:
        """The schema of the database: tables or labels, fields, keys, counts and samples."""
        database = await self._open(request, await _read_body(request, DatabaseUrl))
        schema = await run_in_threadpool(database.schema)
        return JSONResponse({"kind": database.kind, **asdict(schema)})

    async def query(self, request: Request) -> JSONResponse:
        """Run a query under the same guard and limits as a model's; return its rows."""
        sent = await _read_body(request, DatabaseQuery)
        database = await self._open(request, sent)
        context = self._access.service().context
        limits = Limits(
            seconds=context.query_seconds,
            rows=context.query_rows,
            characters=_CHARACTERS,
            owner=self._access.owner(request) or "",
        )
        async with self._query_locks.get(limits.owner):  # waiting blocks no thread
            result = await run_in_threadpool(database.run, sent.query, limits)
        return JSONResponse(
            {
                "columns": result.columns,
                "rows": [[_cell_json(cell) for cell in row] for row in result.rows],
                "total_rows": result.total_rows,
                "seconds": result.seconds,
                "hint": result.hint,
            }
        )

    async def _open(self, request: Request, named: DatabaseUrl) -> Database:
        url = self._access.url(request, named.url.strip())
        async with self._open_locks.get(
            self._access.owner(request) or ""
        ):  # a server may not answer
            return await run_in_threadpool(open_database, url)


async def _read_body(request: Request, kind: type[N]) -> N:
    return validate(kind, parse_object(await read_bytes(request, _MAX_BYTES)))


def _database_json(database: kept.Kept, owner: str | None) -> dict[str, Any]:
    """A database as the page lists it, with the name or path that a run takes."""
    return {**asdict(database), "url": kept.url_of(database.name, owner)}


def _cell_json(cell: Cell) -> Cell:
    """A cell as JSON; text if JavaScript would round it or JSON has no such value."""
    match cell:
        case float():
            return cell if isfinite(cell) else str(cell)
        case int():
            return cell if abs(cell) <= _MAX_SAFE_INTEGER else str(cell)
        case list() | dict():
            return cell_text(cell)
    return cell
