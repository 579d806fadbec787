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
    """The worker was silent for so long that another worker may have taken its runs."""


class Lease:
    """The time until which a worker may write, by this process's clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = time.monotonic() + seconds

    def extend(self, at: float) -> None:
        """Extend the lease; the request for it was made at this time."""
        self._until = at + self.seconds

    def check(self) -> None:
        """Check that the lease has not expired."""
        if time.monotonic() > self._until:
            raise LeaseLost


def leased(saver: Saver, lease: Lease) -> Saver:
    """A copy of the saver that writes nothing after the lease has expired.

    Otherwise a process that was suspended and continues later would write into threads that another
    worker has taken over.
    """
    kept = copy(saver)  # copies of this copy, such as a graph makes, have these methods, too
    kept.aput = _check_before(saver.aput, lease)  # type: ignore[method-assign]
    kept.aput_writes = _check_before(saver.aput_writes, lease)  # type: ignore[method-assign]
    return kept


def _check_before(
    write: Callable[Given, Awaitable[Written]], lease: Lease
) -> Callable[Given, Coroutine[Any, Any, Written]]:
    async def checked(*given: Given.args, **named: Given.kwargs) -> Written:
        lease.check()
        return await write(*given, **named)

    return checked
