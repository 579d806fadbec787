"""MariaDB and MySQL: a read-only transaction, a statement time limit, an unbuffered cursor."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pymysql import Connection
from pymysql.cursors import SSCursor
from sqlalchemy import URL, Engine, create_engine

from planweave.tools.database import Limits
from planweave.tools.sql.backend import (
    COUNTED_ROWS,
    Cursor,
    CursorBackend,
    Row,
    columns_of,
    count_rows,
)

_TIMEOUTS = (1969, 3024)  # MariaDB's and MySQL's
_DENIED = (1044, 1142, 1143, 1227, 1290, 1370, 1792)
_GONE = (2002, 2003, 2006, 2013, 2055)
_HARMLESS_EVERYWHERE = {"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROCESS"}
_GRANT = re.compile(r"GRANT (?P<powers>.+?) ON (?P<place>\*\.\*|.+?) TO ", re.IGNORECASE)
_SILENT_SECONDS = 60  # beyond the time of a query, before the connection counts as dead
READER = """\
CREATE USER planweave_reader@'%' IDENTIFIED BY 'choose one';
GRANT SELECT, SHOW VIEW ON `{database}`.* TO planweave_reader@'%';"""
"""SQL that makes a user who may only read one database."""


class MysqlBackend(CursorBackend):
    """MariaDB or MySQL through SQLAlchemy and PyMySQL."""

    dialect = "mysql"
    reader = READER

    def __init__(self, url: URL) -> None:
        super().__init__()
        self.engine: Engine = create_engine(
            url.set(drivername="mysql+pymysql"),
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args={
                "charset": "utf8mb4",
                "connect_timeout": 5,
                "read_timeout": _SILENT_SECONDS,
                "local_infile": False,
            },
        )
        with self.engine.connect():  # tells MariaDB from MySQL
            self._is_mariadb = bool(getattr(self.engine.dialect, "is_mariadb", False))
        self.language = "SQL (MariaDB)" if self._is_mariadb else "SQL (MySQL)"

    @contextmanager
    def execute(self, text: str, limits: Limits) -> Iterator[Cursor]:
        """Run ``text`` in a read-only transaction that the server stops when its time is over."""
        pooled = self.engine.raw_connection()
        connection: Connection[SSCursor] = pooled.driver_connection
        # PyMySQL takes it at the start alone, and every read asks for it.
        connection._read_timeout = limits.seconds + _SILENT_SECONDS
        is_drained = False
        try:
            with connection.cursor() as setting:
                for statement in self._settings(limits.seconds):
                    setting.execute(statement)
            cursor = connection.cursor(SSCursor)
            cursor.execute(text)
            reader = _MysqlCursor(cursor)
            yield reader
            is_drained = reader.is_drained
        finally:
            # Rows that nobody read would be read at the next use: drop the connection instead.
            if not is_drained:
                pooled.invalidate()
            pooled.close()

    def powers(self) -> tuple[str, ...]:
        """What the user may do on the whole server beyond reading, each as a short clause."""
        pooled = self.engine.raw_connection()
        connection: Connection[SSCursor] = pooled.driver_connection
        try:
            with connection.cursor() as cursor:
                cursor.execute("SHOW GRANTS")
                grants = [_GRANT.match(str(row[0])) for row in cursor.fetchall()]
        finally:
            pooled.close()
        everywhere = [found["powers"] for found in grants if found and found["place"] == "*.*"]
        names = {name.strip().upper() for powers in everywhere for name in powers.split(",")}
        return tuple(
            f"it has {name} on the whole server" for name in sorted(names - _HARMLESS_EVERYWHERE)
        )

    def _settings(self, seconds: float) -> tuple[str, ...]:
        limits = [f"SET max_execution_time = {max(1, int(seconds * 1000))}"]
        if self._is_mariadb:
            # By default it ends a recursion after 1 000 steps and says nothing.
            limits = [
                f"SET max_statement_time = {max(seconds, 0.001):f}",
                "SET max_recursive_iterations = 4294967295",
            ]
        return (
            *limits,
            f"SET sql_select_limit = {COUNTED_ROWS + 1}",
            # A server may be set to read quotation marks and backslashes in another way than the
            # guard did.
            "SET sql_mode = 'STRICT_TRANS_TABLES'",
            "START TRANSACTION READ ONLY",
        )

    def is_timeout(self, error: Exception) -> bool:
        """Whether the server's time limit ended the query."""
        return _code(error) in _TIMEOUTS

    def is_refusal(self, error: Exception) -> bool:
        """A missing privilege, or a write in a read-only transaction."""
        return _code(error) in _DENIED

    def is_disconnect(self, error: Exception) -> bool:
        """The client's own error codes for a connection that is gone."""
        return _code(error) in _GONE


def _code(error: Exception) -> object:
    return error.args[0] if error.args else None


class _MysqlCursor:
    def __init__(self, cursor: SSCursor) -> None:
        self._cursor = cursor
        self.columns = columns_of(cursor.description)
        self.is_drained = False

    def fetch(self, count: int) -> Iterator[Row]:
        """One row after the other: a row may be as large as the server's packets."""
        for _ in range(count):
            row = self._cursor.fetchone()
            if row is None:
                self.is_drained = True
                return
            yield row

    def skip(self, count: int, seconds: float) -> int | None:
        skipped = count_rows(self._cursor.fetchall_unbuffered(), count, seconds)
        self.is_drained = skipped is not None
        return skipped
