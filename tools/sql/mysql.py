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
    ErrorKind,
    Row,
    count_rows,
    get_column_names,
)

_TIMEOUTS = (1969, 3024)  # error codes of MariaDB and of MySQL
_REFUSALS = (1044, 1142, 1143, 1227, 1290, 1370, 1792)
_DISCONNECTS = (2002, 2003, 2006, 2013, 2055)
_HARMLESS_EVERYWHERE = {"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROCESS"}
_GRANT = re.compile(r"GRANT (?P<powers>.+?) ON (?P<place>\*\.\*|.+?) TO ", re.IGNORECASE)
_SILENT_SECONDS = 60  # beyond the time of a query, before the connection counts as dead
READER = """\
CREATE USER planweave_reader@'%' IDENTIFIED BY 'choose one';
GRANT SELECT, SHOW VIEW ON `{database}`.* TO planweave_reader@'%';"""
"""SQL that creates a user who may only read one database."""


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
        with self.engine.connect():  # detects MariaDB
            self._is_mariadb = bool(getattr(self.engine.dialect, "is_mariadb", False))
        self.language = "SQL (MariaDB)" if self._is_mariadb else "SQL (MySQL)"

    @contextmanager
    def execute(self, text: str, limits: Limits) -> Iterator[Cursor]:
        """Run ``text`` in a read-only transaction with a time limit of the server."""
        pooled = self.engine.raw_connection()
        connection: Connection[SSCursor] = pooled.driver_connection
        # PyMySQL sets it only when connecting, but each read uses it.
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
            # The next user would read the rows that are left: drop the connection instead.
            if not is_drained:
                pooled.invalidate()
            pooled.close()

    def find_powers(self) -> tuple[str, ...]:
        """Find the user's rights on the whole server beyond reading."""
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
        names -= _HARMLESS_EVERYWHERE
        return tuple(f"it has {name} on the whole server" for name in sorted(names))

    def _settings(self, seconds: float) -> tuple[str, ...]:
        limits = [f"SET max_execution_time = {max(1, int(seconds * 1000))}"]
        if self._is_mariadb:
            # By default it ends a recursion after 1 000 steps without an error.
            limits = [
                f"SET max_statement_time = {max(seconds, 0.001):f}",
                "SET max_recursive_iterations = 4294967295",
            ]
        return (
            *limits,
            f"SET sql_select_limit = {COUNTED_ROWS + 1}",
            # Another mode of the server could read quotation marks and backslashes differently from
            # the guard.
            "SET sql_mode = 'STRICT_TRANS_TABLES'",
            "START TRANSACTION READ ONLY",
        )

    def classify_error(self, error: Exception) -> ErrorKind:
        """Classify an error by its code."""
        code = error.args[0] if error.args else None
        if code in _TIMEOUTS:
            return "timeout"
        if code in _REFUSALS:
            return "refusal"
        return "disconnect" if code in _DISCONNECTS else "other"


class _MysqlCursor:
    def __init__(self, cursor: SSCursor) -> None:
        self._cursor = cursor
        self.columns = get_column_names(cursor.description)
        self.is_drained = False

    def fetch(self, count: int) -> Iterator[Row]:
        """Fetch single rows: each may be as large as the server's packets."""
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
