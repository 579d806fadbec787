"""A temporary folder for copies of a user's data, removed even if its process was killed."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "planweave-data-"
_LOCK = "lock"


class OwnFolder:
    """A folder that only this user can read, locked while it is in use.

    A new folder first removes those of processes that were killed.
    """

    def __init__(self) -> None:
        for folder in _find_abandoned():
            shutil.rmtree(folder, ignore_errors=True)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            lock = self.path / _LOCK
            self._lock = lock.open("wb")
            if _try_lock(self._lock.fileno()) and lock.exists():
                break
            self._lock.close()  # another process has just removed it as abandoned

    def remove(self) -> None:
        """Remove the folder and its files."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def _find_abandoned() -> Iterator[Path]:
    """The folders that no process has locked; each is locked until the next one."""
    if sys.platform == "win32":  # without locks no folder is known to be abandoned
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            lock = (folder / _LOCK).open("rb+")
        except OSError:  # not yet locked, or another user's
            continue
        with lock:
            if _try_lock(lock.fileno()):
                yield folder


def _try_lock(file: int) -> bool:
    """Lock a file until it is closed; False if another process has locked it."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
