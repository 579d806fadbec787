"""The server's own tables, one transaction at a time.

SQLite works in one thread (:class:`OneThread`), PostgreSQL on the event loop. What is done in a
transaction is written once for both, as a plain function of a connection.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.ext.asyncio import AsyncEngine

from planweave.apps.server.one_thread import OneThread

T = TypeVar("T")
P = ParamSpec("P")


class ServerDatabase(ABC):
    """Carries out transactions."""

    @abstractmethod
    async def transaction(self, work: Callable[[Connection], T]) -> T:
        """Do some work on a connection; all of it is kept, or, if it raises, nothing."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of all connections."""


class SqliteDatabase(ServerDatabase):
    """A file, with one connection: a process never waits for a lock that it holds itself."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = OneThread("planweave-tables")

    async def transaction(self, work: Callable[[Connection], T]) -> T:
        """See the base class; a caller who does not wait for the end does not stop it."""

        def carried_out() -> T:
            with self._engine.begin() as connection:
                return work(connection)

        return await self._thread.do(carried_out)

    async def close(self) -> None:
        """See the base class."""
        await self._thread.do(self._engine.dispose)
        self._thread.close()


class PostgresqlDatabase(ServerDatabase):
    """A server, with a few connections."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def transaction(self, work: Callable[[Connection], T]) -> T:
        """See the base class."""
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        """See the base class."""
        await self._engine.dispose()


class Keeper(Protocol):
    """What keeps something in a database."""

    database: ServerDatabase


K = TypeVar("K", bound=Keeper)


def transaction(
    work: Callable[Concatenate[K, Connection, P], T],
) -> Callable[Concatenate[K, P], Coroutine[Any, Any, T]]:
    """Make a method that is given a connection into one that is a transaction of its own."""

    @wraps(work)
    async def carried_out(self: K, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.database.transaction(
            lambda connection: work(self, connection, *args, **kwargs)
        )

    return carried_out
