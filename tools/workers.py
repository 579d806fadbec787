"""Helper processes that are kept warm and shared, with a bounded share for each owner."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from planweave.tools.process import HelperProcess
from planweave.tools.slots import Slots


class Workers:
    """Helper processes of one module, started when they are needed.

    There are ``most`` at once, ``share`` of them for one owner; ``idle`` are kept when nobody uses
    them.
    """

    def __init__(self, module: str, *, most: int, share: int, idle: int) -> None:
        self._module, self._kept = module, idle
        self._slots = Slots(most, share)
        self._idle: list[HelperProcess] = []
        self._lock = Lock()

    @contextmanager
    def lend(self, owner: str, seconds: float) -> Iterator[HelperProcess]:
        """Lend a process, after at most ``seconds`` of waiting.

        Raises:
            QueryTimeout: None became free in time.
        """
        with self._slots.taken(owner, seconds):
            with self._lock:
                self._idle = [process for process in self._idle if process.is_ready]
                process = self._idle.pop() if self._idle else None
            process = process or HelperProcess(self._module, bare=True)
            try:
                yield process
            finally:
                with self._lock:
                    keep = process.is_ready and len(self._idle) < self._kept
                    if keep:
                        self._idle.append(process)
                if not keep:
                    process.stop()
