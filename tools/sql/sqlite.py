"""SQLite: a read-only file, or a script loaded into memory, hardened connection by connection.

``mode=ro`` alone still lets ATTACH and VACUUM INTO write files, and lets a single function call
run past every time limit. So each connection is also set to ``query_only``, bounded in the size
of its values, watched by a deadline, and every access of a query passes an authoriser.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tools.database import DatabaseUnavailable
from tools.sql.backend import Cursor, Row, columns_of, count_rows
from tools.sql.functions import FUNCTIONS

if TYPE_CHECKING:
    from sqlalchemy import Engine

_LONGEST_VALUE = 500_000
"""Bytes of one value or row. Some functions take time that grows with the square of it: at this
size the slowest (``instr``, ``replace``) stay under a second."""
_LONGEST_TRIM_SET = 100
_LOADING = 120.0  # seconds
_STEPS_BETWEEN_CHECKS = 500  # a step may be a millisecond long (LIKE over a long text)
_BOUNDS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _LONGEST_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}
_SYSTEM_TABLES = ("sqlite_", "pragma_")


class SqliteBackend:
    """SQLite through SQLAlchemy, each pooled connection made by ``connect``."""

    dialect = "sqlite"
    language = "SQL (SQLite)"
    reader = ""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        from sqlalchemy import create_engine
        from sqlalchemy.pool import QueuePool

        def hardened() -> sqlite3.Connection:
            connection = connect()
            _harden(connection)
            return connection

        self.engine: Engine = create_engine("sqlite://", creator=hardened, poolclass=QueuePool)

    @contextmanager
    def execute(self, text: str, seconds: float) -> Iterator[Cursor]:
        """Run ``text`` under the authoriser until ``seconds`` have passed."""
        pooled = self.engine.raw_connection()
        connection = pooled.driver_connection
        assert isinstance(connection, sqlite3.Connection)  # noqa: S101 (for the type checker)
        deadline = time.monotonic() + seconds
        cursor = connection.cursor()
        try:
            connection.set_authorizer(_authorise)
            connection.set_progress_handler(
                lambda: time.monotonic() > deadline, _STEPS_BETWEEN_CHECKS
            )
            cursor.execute(text)
            yield _SqliteCursor(cursor)
        finally:
            cursor.close()
            connection.set_progress_handler(None, 0)
            connection.set_authorizer(None)
            pooled.close()

    def powers(self) -> tuple[str, ...]:
        """None: a file has no roles."""
        return ()

    def is_timeout(self, error: Exception) -> bool:
        """The progress handler's answer ends a query with this very message."""
        return str(error) == "interrupted"

    def is_refusal(self, error: Exception) -> bool:
        """The authoriser's "no", or the read-only mode's."""
        message = str(error)
        return any(
            words in message
            for words in ("not authorized", "prohibited", "readonly", "too many attached")
        )

    def is_disconnect(self, error: Exception) -> bool:
        """A file that vanished or is no database (any more)."""
        words = ("unable to open", "disk I/O error", "malformed", "not a database")
        return any(word in str(error) for word in words)


class _SqliteCursor:
    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor
        self.columns = columns_of(cursor.description)

    def fetch(self, count: int) -> list[Row]:
        return self._cursor.fetchmany(count)

    def skip(self, count: int, seconds: float) -> int | None:
        return count_rows(self._cursor, count, seconds)


def _harden(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    # Their first use sets them up in a way that the authoriser would have to allow for all.
    connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")
    for bound, value in _BOUNDS.items():
        connection.setlimit(bound, value)
    for name, strip in (("trim", str.strip), ("ltrim", str.lstrip), ("rtrim", str.rstrip)):
        connection.create_function(name, 2, _bounded_trim(strip), deterministic=True)


def _bounded_trim(strip: Callable[[str, str], str]) -> Callable[[object, object], str | None]:
    """SQLite's own takes minutes for two long texts and cannot be interrupted."""

    def trim(text: object, characters: object) -> str | None:
        if text is None or characters is None:
            return None
        if len(str(characters)) > _LONGEST_TRIM_SET:
            raise ValueError("too many characters to trim")
        return strip(str(text), str(characters))

    return trim


def _authorise(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    """Allow reading tables and calling listed functions; deny all else (see sqlite3's codes)."""
    del database, trigger
    if action in _READS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and not (first or "").lower().startswith(_SYSTEM_TABLES):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS["sqlite"]:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def open_file(path: Path) -> SqliteBackend:
    """Open a database file read-only.

    Raises:
        DatabaseUnavailable: The file is missing or is no SQLite database.
    """
    if not path.is_file():
        raise DatabaseUnavailable(
            f"There is no database file {path}.", mend="Check the path; nothing was created."
        )
    uri = f"{path.resolve().as_uri()}?mode=ro"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(uri, uri=True, check_same_thread=False)

    try:
        connection = connect()
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.close()
    except sqlite3.Error as error:
        raise DatabaseUnavailable(
            f"{path} cannot be read as an SQLite database: {error}.",
            mend="Give a SQLite file, or a .sql script.",
        ) from error
    return SqliteBackend(connect)


def open_script(path: Path) -> SqliteBackend:
    """Load a script of SQL statements into a private database in memory.

    Each pooled connection gets its own copy, so that threads never wait for one another.

    Raises:
        DatabaseUnavailable: The script is missing, is not text, or a statement of it fails.
    """
    try:
        script = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DatabaseUnavailable(
            f"The SQL script {path} cannot be read: {error.strerror}.", mend="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise DatabaseUnavailable(
            f"The SQL script {path} is not UTF-8 text.", mend="Save it as UTF-8."
        ) from error
    loaded = _load(script, path)
    image = loaded.serialize()
    loaded.close()

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        connection.deserialize(image)
        return connection

    return SqliteBackend(connect)


def _load(script: str, path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)  # a script creates no files
    deadline = time.monotonic() + _LOADING
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
    for line, statement in _statements(script):
        try:
            connection.execute(statement)
        except (sqlite3.Error, sqlite3.Warning) as error:
            connection.close()
            if str(error) == "interrupted":
                raise DatabaseUnavailable(
                    f"Loading the SQL script {path} takes too long (line {line}).",
                    mend="Load it into a database file or a server, and name that instead.",
                ) from None
            shown = " ".join(statement.split())[:120]
            raise DatabaseUnavailable(
                f"The SQL script {path} fails at line {line}: {error}, in: {shown}",
                mend="Mend that statement; it must be SQLite's SQL.",
            ) from error
    return connection


def _statements(script: str) -> Iterator[tuple[int, str]]:
    """Split a script into its statements, each with the line that it starts in."""
    start, position, line = 0, 0, 1
    while (position := script.find(";", position) + 1) > 0:
        statement = script[start:position]
        if sqlite3.complete_statement(statement):
            blank = len(statement) - len(statement.lstrip())
            yield line + statement.count("\n", 0, blank), statement
            line += statement.count("\n")
            start = position
    if script[start:].strip():
        yield line + script[start:].count("\n", 0, 1), script[start:]
