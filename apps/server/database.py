"""The server's own tables, one transaction at a time.

SQLite works in one thread (:class:`OneThread`), PostgreSQL on the event loop. What is done in a
transaction is written once for both, as a plain function of a connection.
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
    """A function that does some work in a transaction, and one that lets go of all connections.

    All of a transaction is kept or, if it raises, nothing.
    """

    transaction: Callable[[Callable[[Connection], Any]], Awaitable[Any]]
    close: Callable[[], Awaitable[None]]


def sqlite_database(engine: Engine) -> ServerDatabase:
    """A file, with one connection: a process never waits for a lock that it holds itself."""
    thread = OneThread("planweave-tables")

    def carried_out(work: Callable[[Connection], Any]) -> Any:
        with engine.begin() as connection:
            return work(connection)

    async def close() -> None:
        await thread.do(engine.dispose)
        thread.close()

    return ServerDatabase(lambda work: thread.do(lambda: carried_out(work)), close)


def postgresql_database(engine: AsyncEngine) -> ServerDatabase:
    """A server, with a few connections."""

    async def transaction(work: Callable[[Connection], Any]) -> Any:
        async with engine.begin() as connection:
            return await connection.run_sync(work)

    return ServerDatabase(transaction, engine.dispose)


class Keeper:
    """What keeps something in a database."""

    def __init__(self, database: ServerDatabase) -> None:
        self.database = database


K = TypeVar("K", bound=Keeper)


def transaction(
    work: Callable[Concatenate[K, Connection, P], T],
) -> Callable[Concatenate[K, P], Coroutine[Any, Any, T]]:
    """Make a method that is given a connection into one that is a transaction of its own."""

    @wraps(work)
    async def carried_out(self: K, /, *args: P.args, **kwargs: P.kwargs) -> T:
        done: T = await self.database.transaction(
            lambda connection: work(self, connection, *args, **kwargs)
        )
        return done

    return carried_out
