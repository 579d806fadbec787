"""Waits for what comes about in another thread or process."""

import time
from collections.abc import Callable

_PATIENCE = 250.0  # of the 300 s that a test may take


def wait_until(true: Callable[[], object]) -> None:
    """Wait until something is true; a test fails that waits too long."""
    deadline = time.monotonic() + _PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)
