"""A pool of helper processes, with a limited share for each owner."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from planweave.tools.process import HelperProcess
from planweave.tools.slots import Slots


class Workers:
    """Helper processes of one module, started on demand.

    At most ``most`` run at once, ``share`` of them for one owner. The pool keeps ``idle`` unused
    ones.
    """

    def __init__(self, module: str, *, most: int, share: int, idle: int) -> None:
        self._module, self._kept = module, idle
        self._slots = Slots(most, share)
        self._idle: list[HelperProcess] = []
        self._lock = Lock()

    @contextmanager
    def lend(self, owner: str, seconds: float) -> Iterator[HelperProcess]:
        """Lend a process for the time of the block; as :meth:`Slots.take`."""
        with self._slots.take(owner, seconds):
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
