"""PostgreSQL: a read-only transaction, a statement time-out, a server-side cursor.

The cursor is declared for one SELECT or nothing, and brings rows over a page at a time. What a
session keeps beyond its transaction (settings, locks, listeners) ends with each query.
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

_DANGEROUS_GROUPS = (
    "pg_read_server_files",
    "pg_write_server_files",
    "pg_execute_server_program",
    "pg_signal_backend",
    "pg_create_subscription",
    "pg_write_all_data",
)
_DANGEROUS_FUNCTIONS = (
    "pg_read_file(text)",
    "pg_read_binary_file(text)",
    "pg_ls_dir(text)",
    "lo_import(text)",
    "lo_export(oid, text)",
)
_POWERS = """
    SELECT 'it is a superuser' FROM pg_roles WHERE rolname = current_user AND rolsuper
    UNION ALL
    SELECT 'it may make roles, replicate or pass by row security' FROM pg_roles
    WHERE rolname = current_user AND NOT rolsuper
        AND (rolcreaterole OR rolreplication OR rolbypassrls)
    UNION ALL
    SELECT 'it owns the database' FROM pg_database
    WHERE datname = current_database() AND pg_has_role(datdba, 'MEMBER')
    UNION ALL
    (SELECT 'it owns ' || relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
        WHERE relkind IN ('r', 'v', 'm', 'p', 'f') AND pg_has_role(relowner, 'MEMBER')
        AND nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY relname LIMIT 1)
    UNION ALL
    SELECT 'it is a member of ' || rolname FROM pg_roles
    WHERE rolname = ANY (%s) AND pg_has_role(oid, 'MEMBER')
    UNION ALL
    SELECT 'it may call ' || name FROM unnest(%s::text[]) AS name
    WHERE has_function_privilege(name, 'EXECUTE')
"""
READER = """\
CREATE ROLE planweave_reader LOGIN PASSWORD 'choose one';
GRANT CONNECT ON DATABASE "{database}" TO planweave_reader;
GRANT USAGE ON SCHEMA public TO planweave_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO planweave_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO planweave_reader;"""
"""SQL that makes a role which may only read one database."""


class PostgresqlBackend:
    """PostgreSQL through SQLAlchemy and psycopg."""

    dialect = "postgres"
    language = "SQL (PostgreSQL)"
    reader = READER

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
            try:
                _reset(connection)
            except Exception:  # whatever is wrong with the connection, nobody gets it again
                pooled.invalidate()
            pooled.close()

    def powers(self) -> tuple[str, ...]:
        """What the role may do beyond reading, each as a short clause."""
        pooled = self.engine.raw_connection()
        connection: Connection = pooled.driver_connection  # type: ignore[assignment] # psycopg's
        try:
            rows = connection.execute(
                _POWERS, (list(_DANGEROUS_GROUPS), list(_DANGEROUS_FUNCTIONS))
            )
            return tuple(str(row[0]) for row in rows.fetchall())
        finally:
            pooled.close()

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


def _reset(connection: "Connection") -> None:
    """End the transaction, and all that the session would keep."""
    connection.rollback()
    connection.autocommit = True
    connection.execute("DISCARD ALL")
    connection.autocommit = False


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
