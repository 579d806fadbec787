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
    async def run_in_thread(self: "SqliteCheckpoints", *given: Any, **named: Any) -> Any:
        return await self.thread.do(lambda: method(self, *given, **named))

    return run_in_thread


class SqliteCheckpoints(SqliteSaver):
    """Runs each call of LangGraph's :class:`SqliteSaver` as one job of a thread.

    LangGraph's asynchronous saver switches to its thread for each statement and each commit, which
    takes longer than the writing.
    """

    thread: OneThread

    aget_tuple = _in_thread(SqliteSaver.get_tuple)
    aput = _in_thread(SqliteSaver.put)
    aput_writes = _in_thread(SqliteSaver.put_writes)
    adelete_thread = _in_thread(SqliteSaver.delete_thread)

    async def alist(self, *given: Any, **named: Any) -> AsyncIterator[CheckpointTuple]:
        """Read checkpoints, latest first."""
        for found in await self.thread.do(lambda: [*self.list(*given, **named)]):
            yield found


@asynccontextmanager
async def sqlite_checkpoints(
    path: Path, serde: SerializerProtocol
) -> AsyncIterator[SqliteCheckpoints]:
    """Open the checkpoints of a file while the block runs."""
    with closing(sqlite3.connect(path, timeout=60, check_same_thread=False)) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        saver = SqliteCheckpoints(connection, serde=serde)
        saver.thread = OneThread("planweave-checkpoints")
        try:
            yield saver
        finally:
            saver.thread.close()
