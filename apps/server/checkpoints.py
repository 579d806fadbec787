"""LangGraph's checkpoints in a SQLite file, written by one thread."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver

from planweave.apps.server.one_thread import OneThread


def _in_thread(method: Callable[..., Any]) -> Any:
    async def done(self: "SqliteCheckpoints", *given: Any, **named: Any) -> Any:
        return await self.thread.do(lambda: method(self, *given, **named))

    return done


class SqliteCheckpoints(SqliteSaver):
    """Does the work of LangGraph's :class:`SqliteSaver` in a thread, a whole step at a time.

    LangGraph's own asynchronous saver goes to its thread and back for each statement and each
    commit, which took longer than the writing.
    """

    thread: OneThread

    aget_tuple = _in_thread(SqliteSaver.get_tuple)
    aput = _in_thread(SqliteSaver.put)
    aput_writes = _in_thread(SqliteSaver.put_writes)
    adelete_thread = _in_thread(SqliteSaver.delete_thread)

    async def alist(self, *given: Any, **named: Any) -> AsyncIterator[CheckpointTuple]:
        """Read checkpoints, the latest first."""
        for found in await self.thread.do(lambda: [*self.list(*given, **named)]):
            yield found


@asynccontextmanager
async def sqlite_checkpoints(
    path: Path, serde: SerializerProtocol
) -> AsyncIterator[SqliteCheckpoints]:
    """The checkpoints of a file, while the block runs; its tables are made if need be."""
    with closing(sqlite3.connect(path, timeout=60, check_same_thread=False)) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        saver = SqliteCheckpoints(connection, serde=serde)
        saver.thread = OneThread("planweave-checkpoints")
        try:
            yield saver
        finally:
            saver.thread.close()
