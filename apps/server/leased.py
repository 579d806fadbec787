"""Checkpoints that only a worker with a valid lease can write."""

import time
from collections.abc import Awaitable, Callable, Coroutine
from copy import copy
from typing import Any, ParamSpec, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver

Given = ParamSpec("Given")
Written = TypeVar("Written")
Saver = BaseCheckpointSaver[Any]


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


def leased(saver: Saver, lease: Lease) -> Saver:
    """The saver, which writes nothing once the lease has run out by this clock.

    A process that was stopped and goes on later would otherwise write into threads that another
    worker has taken over.
    """
    kept = copy(saver)  # the methods stay with further copies, such as a graph compiles with
    kept.aput = _while_held(saver.aput, lease)  # type: ignore[method-assign]
    kept.aput_writes = _while_held(saver.aput_writes, lease)  # type: ignore[method-assign]
    return kept


def _while_held(
    write: Callable[Given, Awaitable[Written]], lease: Lease
) -> Callable[Given, Coroutine[Any, Any, Written]]:
    async def checked(*given: Given.args, **named: Given.kwargs) -> Written:
        lease.check()
        return await write(*given, **named)

    return checked
