"""SQLite files that outlast a process: for their owner alone, checked before they are used."""

import os
import shutil
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from errno import EISDIR
from pathlib import Path

from planweave import BadInput

PATIENCE_SECONDS = 10.0
"""How long another program's lock on a file is waited for."""

_CHECKED_WHOLE = 20_000_000  # bytes; a larger file takes too long to read at every start
_BESIDE = ("-wal", "-shm", "-journal")

Columns = Mapping[str, Collection[str]]
"""Columns that the tables of a file must have, where there are such tables."""

CHECKPOINTS: Columns = {
    "checkpoints": ("thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint"),
    "writes": ("thread_id", "checkpoint_id", "task_id", "idx", "channel", "type", "value"),
}
STORE: Columns = {"store": ("prefix", "key", "value", "created_at", "updated_at")}


_LEAST_ROOM = 65_536  # bytes: its index of a write-ahead log takes 32,768


class FileUnusable(BadInput):
    """A file that cannot be used; ``damaged`` says that waiting does not help."""

    damaged = False


def private(path: Path) -> Path:
    """Make a file for its owner alone, or what there is such a one."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise unusable(path, error) from None
    return path


def check(path: Path, columns: Columns) -> None:
    """Check that a file is a sound database, or empty."""
    private(path)
    for rest in _BESIDE:
        if (beside := Path(f"{path}{rest}")).is_dir():
            raise unusable(beside, IsADirectoryError(EISDIR, "it is a folder"))
    try:
        with closing(sqlite3.connect(path, timeout=PATIENCE_SECONDS)) as base:
            if path.stat().st_size < _CHECKED_WHOLE:
                ((result,),) = base.execute("PRAGMA quick_check(1)")
                if result != "ok":
                    raise sqlite3.DatabaseError(result)
            for table, names in columns.items():
                present = {row[1] for row in base.execute(f"PRAGMA table_info({table})")}
                if present and not present.issuperset(names):
                    raise sqlite3.DatabaseError(f"its table {table} is another program's")
    except (sqlite3.Error, OSError) as error:
        raise unusable(path, error) from None


def check_or_set_aside(path: Path, columns: Columns) -> Path | None:
    """As :func:`check`, but a damaged file is moved; returns where to."""
    try:
        check(path, columns)
    except FileUnusable as error:
        if not error.damaged:
            raise
        aside = path.with_suffix(f".damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        try:
            path.replace(aside)
            for rest in _BESIDE:
                Path(f"{path}{rest}").unlink(missing_ok=True)
        except OSError as failure:
            raise unusable(path, failure) from None
        private(path)
        return aside
    return None


def unusable(path: Path, error: Exception) -> FileUnusable:
    """The error of a file that raised ``error``."""
    if isinstance(error, OSError):
        return FileUnusable(
            f"The file {path} cannot be used ({error.strerror}).",
            fix="Check that its folder exists and that nothing else has its name.",
        )
    if "locked" in str(error) or "busy" in str(error):
        return FileUnusable(
            f"The file {path} is locked by another program.", fix="Wait until that has ended."
        )
    if "full" in str(error) or ("I/O" in str(error) and _is_full(path)):
        return FileUnusable(
            f"The file {path} cannot be written: the disk is full.",
            fix="Free some space and run the same command again.",
        )
    reason = " ".join(str(error).split())
    damage = FileUnusable(
        f"The file {path} is damaged ({reason}).", fix="Move it away, or restore it from a backup."
    )
    damage.damaged = not isinstance(error, sqlite3.OperationalError)
    return damage


def _is_full(path: Path) -> bool:
    """Whether there is no room for what SQLite keeps beside a file."""
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < _LEAST_ROOM
    return False


@contextmanager
def alone(path: Path, problem: str) -> Iterator[None]:
    """Hold a lock that a process loses when it ends, however it ends.

    Who holds it may remove its file: a lock on a file that is no longer there does not count.
    """
    found = _identity(private(path))
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
            if found is None or _identity(path) != found:
                raise sqlite3.OperationalError("removed")
        except sqlite3.OperationalError:
            raise BadInput(problem, fix="Wait until that has ended.") from None
        except sqlite3.Error as error:
            raise unusable(path, error) from None
        yield


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file a path leads to now."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None
