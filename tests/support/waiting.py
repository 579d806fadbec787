"""Waits for what comes about in another thread or process."""

import asyncio
import time
from collections.abc import Callable

_PATIENCE = 250.0  # of the 300 s that a test may take


def wait_until(true: Callable[[], object]) -> None:
    """Wait until something is true; a test fails that waits too long."""
    deadline = time.monotonic() + _PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


async def until(true: Callable[[], object]) -> None:
    """The same, while other tasks go on."""
    await asyncio.to_thread(wait_until, true)
