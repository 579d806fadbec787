"""PostgreSQL: a read-only transaction, a statement time-out, a server-side cursor.

The cursor is declared for one SELECT or nothing, and brings rows over a page at a time. Long
values are cut by the server: the client's library holds a row whole, whatever its size. What a
session keeps beyond its transaction (settings, locks, listeners) ends with each query.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from psycopg import Column, Connection, DataError, OperationalError, ServerCursor
from psycopg.abc import RV, Buffer, Loader, PQGen
from psycopg.types import datetime
from sqlalchemy import URL, Engine, create_engine, event

from planweave.tools.database import Limits
from planweave.tools.sql.backend import Cursor, CursorBackend, Row, columns_of

_CURSOR = "planweave"
_DENIED = ("42501", "25006")  # insufficient privilege, read-only transaction
_SILENT_MILLISECONDS = 20_000
_PATIENCE = 60.0  # seconds, beyond the time of a query
_CANCELLED = "57014"
_BYTEA = 17
_SHORT = {
    *(16, 18, 19, 20, 21, 23, 26, 700, 701),  # bool, "char", name, integers, oid, floats
    *(1082, 1083, 1114, 1184, 1186, 1266),  # dates and times
    *(1700, 2278, 2950),  # numeric, void, uuid
}
"""Types by number whose values are never long."""
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


class _Patient(Connection[Any]):
    """A connection that ends when the server has been silent for too long.

    A server whose process stands still ends no statement, and its host goes on answering TCP.
    """

    patience = _PATIENCE

    def wait(self, gen: PQGen[RV], *how: Any, **more: Any) -> RV:
        """Wait as psycopg does, which looks up from its wait ten times a second."""
        return super().wait(self._until_silent(gen), *how, **more)

    def _until_silent(self, gen: PQGen[RV]) -> PQGen[RV]:
        heard = monotonic()
        try:
            state = next(gen)
            while True:
                ready = yield state
                now = monotonic()
                if ready:
                    heard = now
                elif now - heard > self.patience:
                    self.close()
                    raise OperationalError(f"it was silent for {self.patience:.0f} s")
                state = gen.send(ready)
        except StopIteration as end:
            value: RV = end.value
            return value


class PostgresqlBackend(CursorBackend):
    """PostgreSQL through SQLAlchemy and psycopg."""

    dialect = "postgres"
    language = "SQL (PostgreSQL)"
    reader = READER

    def __init__(self, url: URL) -> None:
        super().__init__()
        self.engine: Engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args={
                # A prepared statement is a single one, whatever its text.
                "prepare_threshold": 0,
                "connect_timeout": 5,
                # A host that is gone without a word is given up.
                "tcp_user_timeout": _SILENT_MILLISECONDS,
                "keepalives_idle": 10,
                "keepalives_interval": 5,
            },
        )
        event.listen(self.engine, "do_connect", _connected)
        event.listen(self.engine, "connect", _keep_odd_dates)

    @contextmanager
    def execute(self, text: str, limits: Limits) -> Iterator[Cursor]:
        """Run ``text`` in a read-only transaction that is stopped when its time is over."""
        pooled = self.engine.raw_connection()
        connection: _Patient = pooled.driver_connection  # type: ignore[assignment] # ours
        try:
            connection.patience = limits.seconds + _PATIENCE
            connection.execute(_SETTINGS, (_milliseconds(limits.seconds),))
            with connection.cursor(_CURSOR) as cursor:
                cursor.execute(text.encode())
                columns = columns_of(cursor.description)  # so it is one whole SELECT
                if cutting := _cutting(text, cursor.description or (), limits.characters):
                    cursor.execute(cutting.encode())
                yield _PostgresqlCursor(connection, cursor, columns)
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
        state = getattr(error, "sqlstate", None) or "08"
        return isinstance(error, OperationalError) and state.startswith(("08", "57P"))


def _connected(
    dialect: object, record: object, given: Sequence[Any], options: Mapping[str, Any]
) -> _Patient:
    del dialect, record
    return _Patient.connect(*given, **options)


def _reset(connection: _Patient) -> None:
    """End the transaction, and all that the session would keep."""
    connection.rollback()
    connection.autocommit = True
    connection.execute("DISCARD ALL")
    connection.autocommit = False
    connection.patience = _PATIENCE


def _keep_odd_dates(connection: Connection, record: object) -> None:
    """Read a date that Python does not know (infinity, before Christ) as the server writes it."""
    del record
    for name, loader in (
        ("date", datetime.DateLoader),
        ("time", datetime.TimeLoader),
        ("timetz", datetime.TimetzLoader),
        ("timestamp", datetime.TimestampLoader),
        ("timestamptz", datetime.TimestamptzLoader),
        ("interval", datetime.IntervalLoader),
    ):
        connection.adapters.register_loader(name, _or_text(loader))


def _or_text(loader: type[Loader]) -> type[Loader]:
    class OrText(loader):  # type: ignore[misc, valid-type] # its base is a parameter
        def load(self, data: Buffer) -> object:
            try:
                return super().load(data)
            except (DataError, OverflowError, ValueError):
                return bytes(data).decode()

    return OrText


def _cutting(text: str, columns: Sequence[Column], characters: int) -> str:
    """The query with its long values cut, as pairs: the value, or the beginning of its text.

    Empty if no column can hold a long value. Nothing but the server can cut them: the client's
    library has no bound on what it reads. OFFSET 0 lets no expression be computed twice.
    """
    if all(column.type_code in _SHORT for column in columns):
        return ""
    longest = max(characters // len(columns), 1)
    names = [f"c{number}" for number in range(len(columns))]
    pairs = [
        pair
        for name, column in zip(names, columns, strict=True)
        for pair in _pair(name, column.type_code, longest)
    ]
    return (
        f"SELECT {', '.join(pairs)} FROM (SELECT * FROM ({text}\n) AS q OFFSET 0) "  # noqa: S608 (checked by the guard, and by the server as one SELECT)
        f"AS q ({', '.join(names)})"
    )


def _pair(name: str, type_code: int, longest: int) -> tuple[str, str]:
    if type_code in _SHORT:
        return name, "NULL"
    if type_code == _BYTEA:
        return "NULL", f"'<' || octet_length({name}) || ' bytes>'"
    fits = f"length({name}::text) <= {longest}"
    return (
        f"CASE WHEN {fits} THEN {name} END",
        f"CASE WHEN NOT {fits} THEN left({name}::text, {longest + 1}) END",
    )


class _PostgresqlCursor:
    def __init__(
        self, connection: Connection, cursor: ServerCursor, columns: tuple[str, ...]
    ) -> None:
        self._connection = connection
        self._cursor = cursor
        self.columns = columns

    def fetch(self, count: int) -> Iterator[Row]:
        width = len(self.columns)
        for row in self._cursor.fetchmany(count):
            if len(row) > width:  # pairs
                yield tuple(
                    value if cut is None else cut
                    for value, cut in zip(row[::2], row[1::2], strict=True)
                )
            else:
                yield row

    def skip(self, count: int, seconds: float) -> int | None:
        self._connection.execute(_SETTINGS, (_milliseconds(seconds),))
        # MOVE counts on the server; no row travels.
        moved = self._connection.execute(f'MOVE FORWARD {count} IN "{_CURSOR}"').rowcount
        return moved if moved < count else None


def _milliseconds(seconds: float) -> str:
    return str(max(1, int(seconds * 1000)))
