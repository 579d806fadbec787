"""The process that reads SQLite databases and is killed if a query takes too long.

SQLite checks the time between its steps, but one step may take minutes (``instr`` over long texts).
``mode=ro`` alone still lets ATTACH and VACUUM INTO write files. So each connection is also
``query_only``, with limits on value size, memory and time. An authoriser checks every access of a
query.

Protocol, one JSON object per line: ``{"load", "into", "seconds"}`` makes a database from a script,
answered by ``{}``; ``{"database", "uri", "text", "seconds", "rows", "characters"}`` reads, answered
by ``{"columns", "rows", "total"}``. Either may be answered by ``{"error", …}``.
"""

import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import cast

from planweave.texts import shorten
from planweave.tools.database import Limits
from planweave.tools.process import Channel, limit_memory
from planweave.tools.sql.backend import ErrorKind, Row, count_rows, fetch_rows, get_column_names
from planweave.tools.sql.functions import FUNCTIONS

_PROCESS_MEMORY = 1 << 30  # bytes of address space
_MEMORY = 512 << 20  # bytes that SQLite may use of it
_NICENESS = 5  # lower priority than the process that serves all users
_MOST_OPEN = 8  # databases
_LONGEST_VALUE = 500_000
"""Bytes of one value or row: the time of some functions grows with the square of its length."""
_LONGEST_TRIM_SET = 100
_STEPS_BETWEEN_CHECKS = 500  # a step may be a millisecond long (LIKE over a long text)
_BOUNDS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _LONGEST_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
_VIRTUAL_TABLES = """
    SELECT replace(name, '"', '""') FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE %'
"""
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}
_SYSTEM_TABLES = ("sqlite_", "pragma_")
# They set limits and folders of the whole process, and so of other databases.
_GLOBAL_PRAGMAS = {
    "data_store_directory",
    "hard_heap_limit",
    "soft_heap_limit",
    "temp_store_directory",
}


def main() -> None:
    """Answer requests until standard input ends."""
    channel = Channel()
    limit_memory(_PROCESS_MEMORY)
    with suppress(AttributeError, OSError):  # Windows lacks it
        os.nice(_NICENESS)
    with closing(sqlite3.connect(":memory:")) as any_database:
        any_database.execute(f"PRAGMA hard_heap_limit = {_MEMORY}")  # of the whole process
    databases = _Databases()
    while True:
        request = channel.receive()
        try:
            answer = _load(request) if "load" in request else _read(databases, request)
        except (sqlite3.Error, sqlite3.Warning) as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        except MemoryError:
            os._exit(1)
        channel.send(answer)


def _read(databases: "_Databases", request: Mapping[str, object]) -> dict[str, object]:
    seconds = cast("float", request["seconds"])
    limits = Limits(
        seconds=seconds,
        rows=cast("int", request["rows"]),
        characters=cast("int", request["characters"]),
    )
    connection = databases.connection(str(request["database"]), str(request["uri"]))
    deadline = time.monotonic() + seconds
    try:
        connection.set_authorizer(_authorise)
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_CHECKS)
        with closing(connection.cursor()) as cursor:
            cursor.execute(str(request["text"]))
            result = fetch_rows(_SqliteCursor(cursor), limits, classify_error)
    finally:
        connection.set_progress_handler(None, 0)
        connection.set_authorizer(None)
    return result._asdict()


class _SqliteCursor:
    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor
        self.columns = get_column_names(cursor.description)

    def fetch(self, count: int) -> Iterator[Row]:
        for _, row in zip(range(count), self._cursor, strict=False):
            yield row

    def skip(self, count: int, seconds: float) -> int | None:
        return count_rows(self._cursor, count, seconds)


def classify_error(error: Exception) -> ErrorKind:
    """Recognise the error that SQLite raises when the progress handler stops a query."""
    return "timeout" if str(error) == "interrupted" else "other"


class _Databases:
    """The last used connections, by the number that the parent gives a database."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, sqlite3.Connection] = OrderedDict()

    def connection(self, name: str, uri: str) -> sqlite3.Connection:
        if name not in self._open:
            self._open[name] = connect(uri)
        self._open.move_to_end(name)
        while len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        return self._open[name]


def connect(uri: str) -> sqlite3.Connection:
    """Connect to a file, hardened except for the authoriser and the deadline."""
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA temp_store = MEMORY")
        # Their first use needs access that the authoriser denies later.
        connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")
        for (table,) in connection.execute(_VIRTUAL_TABLES).fetchall():
            with suppress(sqlite3.Error):  # a module that is not installed
                connection.execute(f'SELECT 1 FROM "{table}" LIMIT 0')  # noqa: S608 (quoted)
        for bound, value in _BOUNDS.items():
            connection.setlimit(bound, value)
        for name, strip in (("trim", str.strip), ("ltrim", str.lstrip), ("rtrim", str.rstrip)):
            connection.create_function(name, 2, _bound_trim(strip), deterministic=True)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _bound_trim(strip: Callable[[str, str], str]) -> Callable[[object, object], str | None]:
    """Replace SQLite's own function, which takes minutes for two long texts."""

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
    """Allow a query to read tables and to call listed functions only (see sqlite3's codes)."""
    del database, trigger
    if action in _READS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and not (first or "").lower().startswith(_SYSTEM_TABLES):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and first == "data_version":  # used by full-text search
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS["sqlite"]:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _load(request: Mapping[str, object]) -> dict[str, object]:
    """Run a script in memory, and write the resulting database to a new file."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)  # a script creates no files
        deadline = time.monotonic() + cast("float", request["seconds"])
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        for line, statement in _split_statements(str(request["load"])):
            # Only if needed: it doubles the time of a long script.
            is_pragma = "pragma" in statement.lower()
            connection.set_authorizer(_authorise_script if is_pragma else None)
            try:
                connection.execute(statement)
            except (sqlite3.Error, sqlite3.Warning) as error:
                shown = shorten(" ".join(statement.split()).rstrip("; "), 120)
                reason = "late" if classify_error(error) == "timeout" else f"{error}, in: {shown}"
                return {"error": reason, "line": line}
        connection.set_progress_handler(None, 0)
        connection.set_authorizer(None)
        if connection.in_transaction:
            connection.commit()
        with closing(sqlite3.connect(Path(str(request["into"])))) as file:
            file.execute("PRAGMA synchronous = OFF")
            file.execute("PRAGMA journal_mode = OFF")
            connection.backup(file)
    return {}


def _authorise_script(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    """Allow a script anything in its own database."""
    del second, database, trigger
    is_global = action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _GLOBAL_PRAGMAS
    return sqlite3.SQLITE_DENY if is_global else sqlite3.SQLITE_OK


def _split_statements(script: str) -> Iterator[tuple[int, str]]:
    """Split a script into its statements, each with the number of its first line."""
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
