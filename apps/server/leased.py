"""Checkpoints that only a worker with a valid lease can write."""

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)


class LeaseLost(Exception):
    """The worker was silent for so long that its runs may be another's by now."""


class Lease:
    """How long a worker may write, by this process's clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds

    def renewed(self, at: float) -> None:
        """Note that it was renewed by a request of this time."""
        self._until = at + self.seconds

    def check(self) -> None:
        """Check that it has not run out."""
        if time.monotonic() > self._until:
            raise LeaseLost


class LeasedSaver(BaseCheckpointSaver[Any]):
    """Passes everything on, but writes nothing once the lease has run out by this clock.

    A process that was stopped and goes on later would otherwise write into threads that another
    worker has taken over.
    """

    def __init__(self, saver: BaseCheckpointSaver[Any], lease: Lease) -> None:
        super().__init__(serde=saver.serde)
        self._saver = saver
        self._lease = lease  # shared: a graph compiles with a copy of its saver

    def get_next_version(self, current: Any, channel: None) -> Any:
        """As the saver itself counts."""
        return self._saver.get_next_version(current, channel)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint."""
        return await self._saver.aget_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 (the interface's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Read checkpoints, the latest first."""
        async for found in self._saver.alist(config, filter=filter, before=before, limit=limit):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write a checkpoint.

        Raises:
            LeaseLost: The lease has run out.
        """
        self._lease.check()
        return await self._saver.aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Write what a task of an unfinished step has done.

        Raises:
            LeaseLost: The lease has run out.
        """
        self._lease.check()
        await self._saver.aput_writes(config, writes, task_id, task_path)
