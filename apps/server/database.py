"""The server's own tables, one transaction at a time.

SQLite runs in one thread (:class:`OneThread`), PostgreSQL on the event loop. The work of a
transaction is a plain function of a connection, the same for both.
"""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.ext.asyncio import AsyncEngine

from planweave.apps.server.one_thread import OneThread

T = TypeVar("T")
P = ParamSpec("P")


class ServerDatabase(NamedTuple):
    """A function that runs work in a transaction, and one that closes all connections.

    A transaction is rolled back if the work raises.
    """

    transaction: Callable[[Callable[[Connection], Any]], Awaitable[Any]]
    close: Callable[[], Awaitable[None]]


def sqlite_database(engine: Engine) -> ServerDatabase:
    """A SQLite file with one connection: a process never waits for its own lock."""
    thread = OneThread("planweave-tables")

    def run(work: Callable[[Connection], Any]) -> Any:
        with engine.begin() as connection:
            return work(connection)

    async def close() -> None:
        await thread.do(engine.dispose)
        thread.close()

    return ServerDatabase(lambda work: thread.do(lambda: run(work)), close)


def postgresql_database(engine: AsyncEngine) -> ServerDatabase:
    """A PostgreSQL server with a pool of connections."""

    async def transaction(work: Callable[[Connection], Any]) -> Any:
        async with engine.begin() as connection:
            return await connection.run_sync(work)

    return ServerDatabase(transaction, engine.dispose)


class Repository:
    """Base of classes that read and write tables of a database."""

    def __init__(self, database: ServerDatabase) -> None:
        self.database = database


K = TypeVar("K", bound=Repository)


def transaction(
    work: Callable[Concatenate[K, Connection, P], T],
) -> Callable[Concatenate[K, P], Coroutine[Any, Any, T]]:
    """Decorate a method that takes a connection, so that each call is a transaction."""

    @wraps(work)
    async def run(self: K, /, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = await self.database.transaction(
            lambda connection: work(self, connection, *args, **kwargs)
        )
        return result

    return run
