"""Experience: the stored paths of an owner, from which the instruction graph is built.

Each owner has a separate database, so that a mistake in a query cannot show one owner's paths to
another. The graph is built anew each time and never stored, so that removed paths leave no trace.
"""

import json
import pathlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from typing import NamedTuple

from planweave import BadInput, PlanweaveError
from planweave.errors import StoreUnusable
from planweave.learning.paths import TaskPath
from planweave.state import StateSettings
from planweave.texts import digest

_VERSION = 1
_SET_VERSION = f"PRAGMA user_version = {_VERSION}"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS path(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,"
    " task TEXT NOT NULL, question TEXT NOT NULL, instructions TEXT NOT NULL,"
    " reward REAL NOT NULL, origin TEXT NOT NULL, added TEXT NOT NULL)",
    "DROP TABLE IF EXISTS vector",  # earlier versions kept vectors of instructions
)


class KeptPath(NamedTuple):
    """A path and when it was added, in ISO format."""

    path: TaskPath
    added: str


class Experience:
    """The paths of one owner, a user or a project."""

    def __init__(self, folder: pathlib.Path, owner: str) -> None:
        self.file = folder / f"{digest(owner, 32)}.sqlite"

    @property
    def bytes(self) -> int:
        """The size on disk."""
        return self.file.stat().st_size if self.file.exists() else 0

    def add(self, paths: Iterable[TaskPath]) -> list[str]:
        """Store paths and return the keys of the new ones.

        An existing path gets the new reward and origin, and becomes the latest.
        """
        paths = [*paths]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._open() as database:
            known = {key for (key,) in database.execute("SELECT key FROM path")}
            database.executemany(
                "INSERT OR REPLACE INTO path VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
                ((path.key, *_to_row(path), now) for path in paths),
            )
        return [key for key in dict.fromkeys(path.key for path in paths) if key not in known]

    def entries(self) -> list[KeptPath]:
        """All paths, the oldest first."""
        with suppress(PermissionError):  # reported below
            if not self.file.exists():
                return []
        with self._open(only_reads=True) as database:
            ((tables,),) = database.execute("SELECT COUNT(*) FROM sqlite_master")
            if not tables:
                return []
            rows = database.execute(
                "SELECT task, question, instructions, reward, origin, added FROM path ORDER BY id"
            )
            return [
                KeptPath(TaskPath(task, question, tuple(json.loads(texts)), reward, origin), added)
                for task, question, texts, reward, origin, added in rows
            ]

    def remove(self, keys: Sequence[str]) -> None:
        """Forget paths for good."""
        with self._open() as database:
            for key in dict.fromkeys(keys):
                if not database.execute("DELETE FROM path WHERE key = ?", (key,)).rowcount:
                    raise BadInput(
                        f"There is no path {key!r}.", fix="See `planweave experience list`."
                    )

    def clear(self) -> None:
        """Forget everything."""
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            raise _unusable(self.file, error) from None

    @contextmanager
    def _open(self, *, only_reads: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction; deleted data is overwritten on disk."""
        try:
            if not only_reads:
                self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            url = f"{self.file.absolute().as_uri()}?mode={'rw' if only_reads else 'rwc'}"
            with closing(sqlite3.connect(url, timeout=30, uri=True)) as database, database:
                database.execute("PRAGMA secure_delete = ON")
                ((version,),) = database.execute("PRAGMA user_version")
                if version not in (0, _VERSION):
                    raise ValueError(f"version {version}")
                for statement in () if only_reads else (*_SCHEMA, _SET_VERSION):
                    database.execute(statement)
                yield database
        except PlanweaveError:
            raise
        except (OSError, sqlite3.Error, ValueError, TypeError) as error:
            raise _unusable(self.file, error) from None


def experience_of(owner: str) -> Experience:
    """The experience of an owner, in the state folder."""
    return Experience(StateSettings().state_dir / "experience", owner)


def _to_row(path: TaskPath) -> tuple[str | float, ...]:
    instructions = json.dumps(path.instructions, ensure_ascii=False)
    return path.task, path.question, instructions, path.reward, path.origin


def _unusable(file: pathlib.Path, error: Exception) -> BadInput:
    return StoreUnusable(
        f"The experience in {file} cannot be used ({error}).",
        fix="Check who may write there; if it is damaged, delete it and add the paths again.",
    )
