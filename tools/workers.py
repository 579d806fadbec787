"""Helper processes that are kept warm and shared, with a bounded share for each owner."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from planweave.tools.process import HelperProcess


class NoShareLeft(Exception):
    """All that an owner may use at once stayed in use."""


class Workers:
    """Helper processes of one module.

    An owner uses at most ``share`` of them at once, so that whoever sends slow work delays
    nobody else. They are started when they are needed.

    Args:
        module: The module that they run (see :class:`planweave.tools.process.HelperProcess`).
        share: How many an owner may use at once.
        idle: How many are kept when nobody uses them.
    """

    def __init__(self, module: str, *, share: int, idle: int) -> None:
        self._module, self._share, self._kept = module, share, idle
        self._busy: Counter[str] = Counter()
        self._idle: list[HelperProcess] = []
        self._changed = Condition()

    @contextmanager
    def lend(self, owner: str, seconds: float) -> Iterator[HelperProcess]:
        """Lend a process, after at most ``seconds`` of waiting.

        Raises:
            NoShareLeft: The owner's share stayed in use.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._busy[owner] < self._share, seconds):
                raise NoShareLeft
            self._busy[owner] += 1
            self._idle = [process for process in self._idle if process.is_ready]
            process = self._idle.pop() if self._idle else None
        try:
            process = process or HelperProcess(self._module, bare=True)
            yield process
        finally:
            self._take_back(owner, process)

    def _take_back(self, owner: str, process: HelperProcess | None) -> None:
        with self._changed:
            self._busy[owner] -= 1
            if not self._busy[owner]:
                del self._busy[owner]
            keep = process is not None and process.is_ready and len(self._idle) < self._kept
            if process and keep:
                self._idle.append(process)
            self._changed.notify_all()
        if process and not keep:
            process.stop()
