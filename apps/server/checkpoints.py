"""LangGraph's checkpoints in a SQLite file, written by one thread."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver

from planweave.apps.server.one_thread import OneThread


class SqliteCheckpoints(BaseCheckpointSaver[str]):
    """Has LangGraph's :class:`SqliteSaver` do its work in a thread, a whole step at a time.

    LangGraph's own asynchronous saver goes to its thread and back for each statement and each
    commit, which took longer than the writing.
    """

    def __init__(self, saver: SqliteSaver, thread: OneThread) -> None:
        super().__init__(serde=saver.serde)
        self._saver = saver
        self._thread = thread

    @classmethod
    @asynccontextmanager
    async def open(
        cls, path: Path, serde: SerializerProtocol
    ) -> AsyncIterator["SqliteCheckpoints"]:
        """The checkpoints of a file, while the block runs; its tables are not made yet."""
        with closing(sqlite3.connect(path, timeout=60, check_same_thread=False)) as connection:
            connection.execute("PRAGMA synchronous = NORMAL")
            thread = OneThread("planweave-checkpoints")
            try:
                yield cls(SqliteSaver(connection, serde=serde), thread)
            finally:
                thread.close()

    async def setup(self) -> None:
        """Make the tables if need be."""
        await self._thread.do(self._saver.setup)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """As the saver itself counts."""
        return self._saver.get_next_version(current, channel)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint."""
        return await self._thread.do(lambda: self._saver.get_tuple(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 (the interface's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Read checkpoints, the latest first."""

        def read() -> list[CheckpointTuple]:
            return [*self._saver.list(config, filter=filter, before=before, limit=limit)]

        for found in await self._thread.do(read):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write a checkpoint."""
        return await self._thread.do(
            lambda: self._saver.put(config, checkpoint, metadata, new_versions)
        )

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Write what a task of an unfinished step has done."""
        await self._thread.do(lambda: self._saver.put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """Take all checkpoints of a thread away."""
        await self._thread.do(lambda: self._saver.delete_thread(thread_id))
