"""PostgreSQL: a read-only transaction, a statement time-out, a server-side cursor.

The cursor is declared for one SELECT or nothing, and brings rows over a page at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tools.sql.backend import Cursor, Row, columns_of

if TYPE_CHECKING:
    from psycopg import Connection, ServerCursor
    from sqlalchemy import URL, Engine

_CURSOR = "planweave"
_DENIED = ("42501", "25006")  # insufficient privilege, read-only transaction
_CANCELLED = "57014"
# For this transaction alone. Backslashes are read as the guard read them.
_SETTINGS = """
    SELECT set_config('transaction_read_only', 'on', true),
        set_config('standard_conforming_strings', 'on', true),
        set_config('statement_timeout', %s, true)
"""


class PostgresqlBackend:
    """PostgreSQL through SQLAlchemy and psycopg."""

    dialect = "postgres"
    language = "SQL (PostgreSQL)"

    def __init__(self, url: "URL") -> None:
        from sqlalchemy import create_engine

        self.engine: Engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args={
                # A prepared statement is a single one, whatever its text.
                "prepare_threshold": 0,
                "connect_timeout": 5,
            },
        )

    @contextmanager
    def execute(self, text: str, seconds: float) -> Iterator[Cursor]:
        """Run ``text`` in a read-only transaction that is stopped after ``seconds``."""
        pooled = self.engine.raw_connection()
        connection: Connection = pooled.driver_connection  # type: ignore[assignment] # psycopg's
        try:
            connection.execute(_SETTINGS, (_milliseconds(seconds),))
            with connection.cursor(_CURSOR) as cursor:
                cursor.execute(text.encode())
                yield _PostgresqlCursor(connection, cursor)
        finally:
            pooled.close()  # rolls back

    def is_timeout(self, error: Exception) -> bool:
        """Whether the statement time-out cancelled the query."""
        return getattr(error, "sqlstate", None) == _CANCELLED

    def is_refusal(self, error: Exception) -> bool:
        """A missing privilege, or a write in a read-only transaction."""
        return getattr(error, "sqlstate", None) in _DENIED

    def is_disconnect(self, error: Exception) -> bool:
        """Errors of the connection carry no state, or one of class 08 or 57P."""
        from psycopg import OperationalError

        state = getattr(error, "sqlstate", None) or "08"
        return isinstance(error, OperationalError) and state.startswith(("08", "57P"))


class _PostgresqlCursor:
    def __init__(self, connection: "Connection", cursor: "ServerCursor") -> None:
        self._connection = connection
        self._cursor = cursor
        self.columns = columns_of(cursor.description)

    def fetch(self, count: int) -> list[Row]:
        return self._cursor.fetchmany(count)

    def skip(self, count: int, seconds: float) -> int | None:
        self._connection.execute(_SETTINGS, (_milliseconds(seconds),))
        # MOVE counts on the server; no row travels.
        moved = self._connection.execute(f'MOVE FORWARD {count} IN "{_CURSOR}"').rowcount
        return moved if moved < count else None


def _milliseconds(seconds: float) -> str:
    return str(max(1, int(seconds * 1000)))
