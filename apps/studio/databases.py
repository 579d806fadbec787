"""Databases: connect to one and see what it holds."""

from dataclasses import asdict
from math import isfinite
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave import BadInput
from planweave.apps.studio.access import Access
from planweave.apps.studio.guard import body
from planweave.apps.studio.uploads import Turns
from planweave.tools import Database, Limits, open_database
from planweave.tools.database import Cell
from planweave.tools.result_text import cell_text

_MOST = 20_000  # bytes of a URL and a query
_CHARACTERS = 100_000
_SAFE = 2**53  # larger integers JavaScript rounds


class Named(BaseModel):
    """The database that a caller wants to see."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    url: str


class Queried(Named):
    """What a caller wants to know from it."""

    query: str


N = TypeVar("N", bound=Named)


class Databases:
    """The routes; ``access`` says which databases a caller may name."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._turns = Turns()

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
        return await run_in_threadpool(open_database, url)


async def _sent(request: Request, kind: type[N]) -> N:
    try:
        return kind.model_validate_json(await body(request, _MOST))
    except ValidationError as error:
        missing = error.errors()[0]["loc"][0] if error.errors()[0]["loc"] else "url"
        raise BadInput(
            f"The request names no {'query' if missing == 'query' else 'database'}.",
            fix='Send {"url": "…"}, and a "query" where rows are asked for.',
        ) from None


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
