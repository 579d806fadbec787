"""A temporary folder with a copy of somebody's data: it goes even if its process is killed."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "planweave-data-"
_LOCK = "lock"


class OwnFolder:
    """A folder for this user alone, locked as long as it is used.

    What earlier processes left since they were killed is removed on the way.
    """

    def __init__(self) -> None:
        for left in _left_behind():
            shutil.rmtree(left, ignore_errors=True)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            lock = self.path / _LOCK
            self._lock = lock.open("wb")
            if _locks(self._lock.fileno()) and lock.exists():
                break
            self._lock.close()  # another process took it for one that was left behind

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        self._lock.close()
        shutil.rmtree(self.path, ignore_errors=True)


def _left_behind() -> Iterator[Path]:
    """Folders whose lock nobody holds, each locked while it is looked at."""
    if sys.platform == "win32":  # there nothing tells
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            lock = (folder / _LOCK).open("rb+")
        except OSError:  # not yet locked, or of another user
            continue
        with lock:
            if _locks(lock.fileno()):
                yield folder


def _locks(file: int) -> bool:
    """Lock a file until it is closed; gives False if another process has."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
