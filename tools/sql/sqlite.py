"""SQLite: a read-only file, or a script loaded into one, which separate processes read."""

import sqlite3
import time
import weakref
from collections.abc import Mapping
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, cast

from planweave.tools.database import (
    Cell,
    DatabaseMissing,
    DatabaseUnavailable,
    Fetched,
    Limits,
    QueryTimeout,
)
from planweave.tools.own_folder import OwnFolder
from planweave.tools.process import ProcessEnded
from planweave.tools.sql.backend import ErrorKind
from planweave.tools.sql.sqlite_process import classify_error, connect
from planweave.tools.workers import Workers

if TYPE_CHECKING:
    from sqlalchemy import Engine

_WORKERS = Workers("planweave.tools.sql.sqlite_process", most=8, share=4, idle=4)
_LOADING = 120.0  # seconds
_GRACE = 0.6  # seconds in which a late query may end before its process is killed
# Beginnings of SQLite's messages: the rest may be a name or a value of the query.
_REFUSALS = (
    "not authorized",
    "authorization",
    "access to",
    "attempt to write",
    "too many attached",
)
_DAMAGES = (
    "unable to open",
    "disk I/O error",
    "database disk image is malformed",
    "malformed database schema",
    "file is not a database",
)
_FIXES = {
    "locked": "Wait until the program that writes to it has ended.",
    "not a database": "Give a SQLite file, a .sql script, or a CSV, Excel or Parquet file.",
    "malformed": "Restore the file from a copy.",
}
_MAY_READ = (
    "Check that you may read it; a database in WAL mode needs a folder that you may write to, too."
)
_NARROW = "Join on keys, filter more, or build shorter texts."
_numbers = count()


class SqliteBackend:
    """A database file that the processes read and SQLAlchemy describes."""

    dialect = "sqlite"
    language = "SQL (SQLite)"
    reader = ""

    def __init__(self, path: Path) -> None:
        from sqlalchemy import URL, create_engine
        from sqlalchemy.pool import QueuePool

        self.uri = f"{path.resolve().as_uri()}?mode=ro"
        # The file may be replaced by another one: the processes know it by this number.
        self._number = next(_numbers)
        self.engine: Engine = create_engine(
            URL.create("sqlite", database=str(path)),  # appears in errors
            creator=lambda: connect(self.uri),
            poolclass=QueuePool,
        )

    def run(self, text: str, limits: Limits) -> Fetched:
        """Run ``text`` in a process that is killed if it takes too long."""
        request = {
            "database": self._number,
            "uri": self.uri,
            "text": text,
            "seconds": limits.seconds,
            "rows": limits.rows,
            "characters": limits.characters,
        }
        try:
            answer = _ask_process(request, limits.owner, limits.seconds)
        except ProcessEnded as end:
            raise QueryTimeout(
                f"The query {end.reason}; it was stopped ({limits.seconds:g} s).", fix=_NARROW
            ) from end
        if "error" in answer:
            kind: type[Exception] = getattr(sqlite3, str(answer["error"]))
            raise kind(answer["message"])
        columns, rows = cast("list[str]", answer["columns"]), answer["rows"]
        return Fetched(columns, cast("list[list[Cell]]", rows), cast("int | None", answer["total"]))

    def find_powers(self) -> tuple[str, ...]:
        """Return nothing: a file has no roles."""
        return ()

    def classify_error(self, error: Exception) -> ErrorKind:
        """Classify an error by its message."""
        if str(error).startswith(_REFUSALS):
            return "refusal"
        return "disconnect" if str(error).startswith(_DAMAGES) else classify_error(error)


def _ask_process(request: Mapping[str, object], owner: str, seconds: float) -> dict[str, object]:
    """Ask a process; waiting for a free one counts as time of the request."""
    deadline = time.monotonic() + seconds
    with _WORKERS.lend(owner, seconds) as process:
        left = max(deadline - time.monotonic(), 0.001)
        return process.ask({**request, "seconds": left}, left + _GRACE)


def open_file(path: Path) -> SqliteBackend:
    """Open a database file read-only.

    Raises:
        DatabaseUnavailable: The file is missing or is not a SQLite database.
    """
    if not path.is_file():
        raise DatabaseMissing(
            f"There is no database file {path}."
            if not path.is_dir()
            else f"{path} is a folder, not a database file.",
            fix="Check the path; nothing was created.",
        )
    backend = SqliteBackend(path)
    try:
        with closing(connect(backend.uri)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        fix = next((fix for words, fix in _FIXES.items() if words in str(error)), _MAY_READ)
        raise DatabaseUnavailable(
            f"{path} cannot be read as an SQLite database: {error}.", fix=fix
        ) from error
    return backend


def open_script(path: Path) -> SqliteBackend:
    """Load a script of SQL statements into a database that is deleted with the backend.

    Raises:
        DatabaseUnavailable: The script is missing, is not text, or one of its statements fails.
    """
    try:
        script = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        kind = DatabaseUnavailable if path.exists() else DatabaseMissing
        raise kind(
            f"The SQL script {path} cannot be read: {error.strerror}.", fix="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise DatabaseUnavailable(
            f"The SQL script {path} is not UTF-8 text.", fix="Save it as UTF-8."
        ) from error
    folder = OwnFolder()
    try:
        file = folder.path / "script.db"
        _load_script(script, path, file)
        backend = SqliteBackend(file)
    except BaseException:
        folder.remove()
        raise
    weakref.finalize(backend, folder.remove)
    return backend


def _load_script(script: str, path: Path, file: Path) -> None:
    """Load a script, which was read from ``path``, into a new database file."""
    request = {"load": script, "into": str(file)}
    try:
        answer = _ask_process(request, str(path), _LOADING)
    except (QueryTimeout, ProcessEnded) as end:
        problem = end.reason if isinstance(end, ProcessEnded) else "takes too long"
    else:
        if "error" not in answer:
            return
        problem = f"fails: {answer.get('message')}"
        if answer["error"] == "late":
            problem = f"takes too long (line {answer['line']})"
        elif "line" in answer:
            raise DatabaseUnavailable(
                f"The SQL script {path} fails at line {answer['line']}: {answer['error']}.",
                fix="Correct that statement; it must be SQLite's SQL.",
            )
    raise DatabaseUnavailable(
        f"Loading the SQL script {path} {problem}.",
        fix="Load it into a database file or a server, and name that instead.",
    )
