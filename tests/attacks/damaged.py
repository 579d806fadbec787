"""Files that outlast a process, each spoilt in one way.

Whatever state a file is in, a command that needs it works without it or says in one sentence what
is wrong with it; what was spoilt is never written over.
"""

import os
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from itertools import product
from pathlib import Path

COMMAND_FILES = ("threads/checkpoints.sqlite", "long-term.sqlite")
"""Below the state folder, what a command keeps from one run to the next."""

SERVER_FILES = (
    *("serve.sqlite", "serve.sqlite-wal", "serve.sqlite-shm"),
    *("serve.checkpoints.sqlite", "serve.checkpoints.sqlite-wal", "serve.checkpoints.sqlite-shm"),
    *("serve.memory.sqlite", "serve.memory.sqlite-journal", "serve.turn.sqlite"),
)
"""What a server keeps beside each other."""

_NOISE = random.Random(1).randbytes(20_000)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 1)


def _spoilt_inside(path: Path) -> None:
    """The first page, with the names of the tables, stays; what follows is noise."""
    kept = path.read_bytes()
    path.write_bytes(kept[:4096] + _NOISE[: max(0, len(kept) - 4096)])


def _of_another_program(path: Path) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as base:
        for table in ("checkpoints", "writes", "store", "planweave_runs", "planweave_threads"):
            base.execute(f"CREATE TABLE {table}(something TEXT)")
        base.commit()


def _a_folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    (path / "inside").mkdir(parents=True)


def _a_link_to_nowhere(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(path.parent / "no such folder" / "file")


SPOILT: Mapping[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "noise": lambda path: path.write_bytes(_NOISE),
    "zeros": lambda path: path.write_bytes(bytes(20_000)),
    "text": lambda path: path.write_text("hello\n"),
    "a header alone": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "cut off": _cut,
    "spoilt inside": _spoilt_inside,
    "of another program": _of_another_program,
    "a folder": _a_folder,
    "a link to nowhere": _a_link_to_nowhere,
}
"""How a file is spoilt."""

OF_CONTENT = ("cut off", "spoilt inside")
"""What needs a file that is there."""
LOCKED = "locked"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """The file as another program keeps it to itself."""
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA locking_mode = EXCLUSIVE")
        base.execute("BEGIN EXCLUSIVE")
        yield


def spoil(path: Path, how: str) -> AbstractContextManager[None]:
    """Spoil a file that there is, for as long as the block lasts or for good."""
    if how == LOCKED:
        return locked(path)
    SPOILT[how](path)
    return nullcontext()


def cases(files: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every file with every way in which it can be spoilt."""
    databases = [name for name in files if name.endswith(".sqlite")]
    return [*product(files, SPOILT), *((name, LOCKED) for name in databases)]
