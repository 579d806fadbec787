"""Persistent SQLite files: private to their owner, checked before use."""

import os
import shutil
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from errno import EISDIR
from pathlib import Path

from planweave import BadInput

LOCK_TIMEOUT_SECONDS = 10.0
"""How long to wait for a lock of another program."""

_MAX_CHECKED_BYTES = 20_000_000  # bytes; a larger file takes too long to read at every start
_SUFFIXES = ("-wal", "-shm", "-journal")
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
_OTHER_FILE = "Name another file, or move this one away."

Columns = Mapping[str, Collection[str]]
"""Columns that the tables of a file must have, if the tables exist."""

CHECKPOINTS: Columns = {
    "checkpoints": ("thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint"),
    "writes": ("thread_id", "checkpoint_id", "task_id", "idx", "channel", "type", "value"),
}
STORE: Columns = {
    "store": ("prefix", "key", "value", "created_at", "updated_at"),
    "store_migrations": ("v",),  # made first
}


_MIN_FREE_BYTES = 65_536  # bytes: its index of a write-ahead log takes 32,768


class FileUnusable(BadInput):
    """A file that cannot be used."""


class FileDamaged(FileUnusable):
    """A file with other contents than it should have; waiting does not help."""


def make_private(path: Path) -> Path:
    """Make a file, or an existing one, readable and writable by its owner only."""
    try:
        _make(path)
        path.chmod(0o600)
    except OSError as error:
        raise error_for(path, error) from None
    return path


def _make(path: Path) -> None:
    """Make a file, unless it exists; an existing one keeps its permissions."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def check(path: Path, columns: Columns) -> None:
    """Check that a file is empty, or an intact database with one of these tables.

    A refused file stays unchanged.
    """
    for suffix in _SUFFIXES:
        if (file := Path(f"{path}{suffix}")).is_dir():
            raise error_for(file, IsADirectoryError(EISDIR, "it is a folder"))
    try:
        _make(path)
        with closing(sqlite3.connect(path, timeout=LOCK_TIMEOUT_SECONDS)) as base:
            present = {name for (name,) in base.execute(_TABLES)}
            if present and present.isdisjoint(columns):
                raise _foreign(path, min(present))
            if path.stat().st_size < _MAX_CHECKED_BYTES:
                ((result,),) = base.execute("PRAGMA quick_check(1)")
                if result != "ok":
                    raise sqlite3.DatabaseError(result)
            for table, names in columns.items():
                found = {row[1] for row in base.execute(f"PRAGMA table_info({table})")}
                if found and not found.issuperset(names):
                    raise _foreign(path, table)
    except (sqlite3.Error, OSError) as error:
        raise error_for(path, error) from None
    make_private(path)


def check_or_set_aside(path: Path, columns: Columns) -> Path | None:
    """Like :func:`check`, but move a damaged file away and return its new path."""
    try:
        check(path, columns)
    except FileDamaged:
        aside = path.with_suffix(f".damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        try:
            path.replace(aside)
            for suffix in _SUFFIXES:
                Path(f"{path}{suffix}").unlink(missing_ok=True)
        except OSError as failure:
            raise error_for(path, failure) from None
        make_private(path)
        return aside
    return None


def error_for(path: Path, error: Exception) -> FileUnusable:
    """The error to report for a file that raised ``error``."""
    if isinstance(error, OSError):
        return FileUnusable(
            f"The file {path} cannot be used ({error.strerror}).",
            fix="Check that its folder exists and that nothing else has its name.",
        )
    if "locked" in str(error) or "busy" in str(error):
        return FileUnusable(
            f"Another program has locked the file {path}.", fix="Wait until it has ended."
        )
    if "full" in str(error) or ("I/O" in str(error) and _is_full(path)):
        return FileUnusable(
            f"The file {path} cannot be written: the disk is full.",
            fix="Free some space and run the same command again.",
        )
    reason = " ".join(str(error).split())
    if reason == "file is not a database":
        return FileDamaged(f"The file {path} is not a SQLite database.", fix=_OTHER_FILE)
    kind = FileUnusable if isinstance(error, sqlite3.OperationalError) else FileDamaged
    return kind(
        f"The file {path} is damaged ({reason}).", fix="Move it away, or restore it from a backup."
    )


def _foreign(path: Path, table: str) -> FileDamaged:
    problem = f"The file {path} has tables of another program, such as {table}."
    return FileDamaged(problem, fix=_OTHER_FILE)


def _is_full(path: Path) -> bool:
    """Whether the disk has too little space for SQLite's additional files."""
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < _MIN_FREE_BYTES
    return False


@contextmanager
def exclusive_lock(path: Path, problem: str) -> Iterator[None]:
    """Hold an exclusive lock that ends with the process at the latest.

    The holder may remove the lock file: a lock on a removed file does not count.
    """
    found = _file_id(make_private(path))
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
            if found is None or _file_id(path) != found:
                raise sqlite3.OperationalError("removed")
        except sqlite3.OperationalError:
            raise BadInput(problem, fix="Wait until it has ended.") from None
        except sqlite3.Error as error:
            raise error_for(path, error) from None
        yield


def _file_id(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file at a path; None if there is none."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None
