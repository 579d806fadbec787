"""Storage of a server: its own tables, checkpoints and long-term memory, under one URL."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import BaseStore

from planweave.apps.server.checkpoints import sqlite_checkpoints
from planweave.apps.server.database import ServerDatabase
from planweave.apps.server.tables import is_postgresql, metadata, open_database, sqlite_files
from planweave.apps.sqlite_file import make_private

_LOCK = 7_202_611_21  # any number; while workers hold this lock, they make the tables


@dataclass(frozen=True)
class Storage:
    """All persistent storage of a server."""

    database: ServerDatabase
    saver: BaseCheckpointSaver[Any]
    store: BaseStore


def storage_failed(error: Exception) -> bool:
    """Whether an error comes from a database, so that a retry may succeed."""
    modules = {cls.__module__.partition(".")[0] for cls in type(error).__mro__}
    return isinstance(error, OSError) or bool(modules & {"sqlalchemy", "sqlite3", "psycopg"})


@asynccontextmanager
async def open_storage(url: str) -> AsyncIterator[Storage]:
    """Open the storage of a server, and make what does not exist.

    With SQLite, checkpoints and memory have their own files, so that none waits for the others.
    """
    database = open_database(url)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        # Checkpoints can only be read as known, harmless types.
        serde = JsonPlusSerializer(allowed_msgpack_modules=None)
        if is_postgresql(url):
            yield await _postgresql(url, database, serde, stack)
        else:
            yield await _sqlite(url, database, serde, stack)


async def _sqlite(
    url: str, database: ServerDatabase, serde: JsonPlusSerializer, stack: AsyncExitStack
) -> Storage:
    import aiosqlite
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    _, checkpoints, memory_file, lock_file = map(make_private, sqlite_files(url))
    saver = await stack.enter_async_context(sqlite_checkpoints(checkpoints, serde))
    memory = await stack.enter_async_context(
        aiosqlite.connect(memory_file, timeout=60, isolation_level=None)
    )
    store = AsyncSqliteStore(memory)
    locking = aiosqlite.connect(lock_file, timeout=60, isolation_level=None)
    async with locking as lock:
        await lock.execute("BEGIN EXCLUSIVE")  # one worker at a time makes the tables
        await database.transaction(metadata.create_all)
        await saver.thread.do(saver.setup)
        await store.setup()
    return Storage(database, saver, store)


async def _postgresql(
    url: str, database: ServerDatabase, serde: JsonPlusSerializer, stack: AsyncExitStack
) -> Storage:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.store.postgres.aio import AsyncPostgresStore
    from psycopg import AsyncConnection
    from psycopg.rows import DictRow, dict_row
    from psycopg_pool import AsyncConnectionPool

    address = "postgresql://" + url.partition("://")[2]
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
        address, min_size=1, max_size=10, open=False, kwargs=options
    )
    await stack.enter_async_context(pool)
    saver, store = AsyncPostgresSaver(pool, serde=serde), AsyncPostgresStore(pool)
    async with pool.connection() as connection:
        # Polled, not awaited: indexes that are built concurrently would wait for the transaction
        # in which another worker waits for the lock.
        while not await _try_lock(connection):  # noqa: ASYNC110 (another process holds it)
            await asyncio.sleep(0.2)
        await database.transaction(metadata.create_all)
        await saver.setup()
        await store.setup()
        await connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))
    return Storage(database, saver, store)


async def _try_lock(connection: Any) -> bool:
    answer = await connection.execute("SELECT pg_try_advisory_lock(%s) AS taken", (_LOCK,))
    row = await answer.fetchone()
    return bool(row["taken"])
