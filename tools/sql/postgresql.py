"""PostgreSQL: a read-only transaction, a statement time-out, a server-side cursor.

The cursor accepts only a single SELECT, and fetches rows a page at a time. The server cuts long
values, because the client's library reads a whole row whatever its size. What a session keeps
beyond its transaction (settings, locks, listeners) ends with each query.
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
from planweave.tools.sql.backend import Cursor, CursorBackend, ErrorKind, Row, get_column_names

_CURSOR = "planweave"
_REFUSALS = ("42501", "25006")  # insufficient privilege, read-only transaction
_SILENT_MILLISECONDS = 20_000
_PATIENCE = 60.0  # seconds of silence, beyond the time of a query
_CANCELLED = "57014"
_BYTEA = 17
_SHORT = {
    *(16, 18, 19, 20, 21, 23, 26, 700, 701),  # bool, "char", name, integers, oid, floats
    *(1082, 1083, 1114, 1184, 1186, 1266),  # dates and times
    *(1700, 2278, 2950),  # numeric, void, uuid
}
"""Numbers of the types whose values are always short."""
# For this transaction alone. The server must read backslashes as the guard does.
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
"""SQL that creates a role which may only read one database."""


class _PatientConnection(Connection[Any]):
    """A connection that closes when the server has been silent for too long.

    A server process that hangs does not stop statements, although its host still responds to TCP.
    """

    patience = _PATIENCE

    def wait(self, gen: PQGen[RV], *how: Any, **more: Any) -> RV:
        """Wait like psycopg, which checks its wait ten times a second."""
        return super().wait(self._watch_for_silence(gen), *how, **more)

    def _watch_for_silence(self, gen: PQGen[RV]) -> PQGen[RV]:
        last_response = monotonic()
        try:
            state = next(gen)
            while True:
                ready = yield state
                now = monotonic()
                if ready:
                    last_response = now
                elif now - last_response > self.patience:
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
                # A prepared statement can only be a single one.
                "prepare_threshold": 0,
                "connect_timeout": 5,
                # Detects a host that went away without closing the connection.
                "tcp_user_timeout": _SILENT_MILLISECONDS,
                "keepalives_idle": 10,
                "keepalives_interval": 5,
            },
        )
        event.listen(self.engine, "do_connect", _connect)
        event.listen(self.engine, "connect", _register_date_loaders)

    @contextmanager
    def execute(self, text: str, limits: Limits) -> Iterator[Cursor]:
        """Run ``text`` in a read-only transaction with a time limit."""
        pooled = self.engine.raw_connection()
        connection: _PatientConnection = pooled.driver_connection  # type: ignore[assignment] # ours
        try:
            connection.patience = limits.seconds + _PATIENCE
            connection.execute(_SETTINGS, (_milliseconds(limits.seconds),))
            with connection.cursor(_CURSOR) as cursor:
                cursor.execute(text.encode())
                columns = get_column_names(cursor.description)  # it is one SELECT
                if query := _cut_values(text, cursor.description or (), limits.characters):
                    cursor.execute(query.encode())
                yield _PostgresqlCursor(connection, cursor, columns)
        finally:
            try:
                _reset(connection)
            except Exception:  # nobody may use this connection again
                pooled.invalidate()
            pooled.close()

    def find_powers(self) -> tuple[str, ...]:
        """Find the role's rights beyond reading."""
        pooled = self.engine.raw_connection()
        connection: Connection = pooled.driver_connection  # type: ignore[assignment] # psycopg's
        try:
            rows = connection.execute(
                _POWERS, (list(_DANGEROUS_GROUPS), list(_DANGEROUS_FUNCTIONS))
            )
            return tuple(str(row[0]) for row in rows.fetchall())
        finally:
            pooled.close()

    def classify_error(self, error: Exception) -> ErrorKind:
        """Classify an error by its state; those of the connection have none, or class 08 or 57P."""
        state = getattr(error, "sqlstate", None)
        if state == _CANCELLED:
            return "timeout"
        if state in _REFUSALS:
            return "refusal"
        is_gone = isinstance(error, OperationalError) and (state or "08").startswith(("08", "57P"))
        return "disconnect" if is_gone else "other"


def _connect(
    dialect: object, record: object, arguments: Sequence[Any], options: Mapping[str, Any]
) -> _PatientConnection:
    del dialect, record
    return _PatientConnection.connect(*arguments, **options)


def _reset(connection: _PatientConnection) -> None:
    """End the transaction, and reset what would stay in the session."""
    connection.rollback()
    connection.autocommit = True
    connection.execute("DISCARD ALL")
    connection.autocommit = False
    connection.patience = _PATIENCE


def _register_date_loaders(connection: Connection, record: object) -> None:
    """Return a date that Python does not support (infinity, before Christ) as text."""
    del record
    for name, loader in (
        ("date", datetime.DateLoader),
        ("time", datetime.TimeLoader),
        ("timetz", datetime.TimetzLoader),
        ("timestamp", datetime.TimestampLoader),
        ("timestamptz", datetime.TimestamptzLoader),
        ("interval", datetime.IntervalLoader),
    ):
        connection.adapters.register_loader(name, _fall_back_to_text(loader))


def _fall_back_to_text(loader: type[Loader]) -> type[Loader]:
    class OrText(loader):  # type: ignore[misc, valid-type] # its base is a parameter
        def load(self, data: Buffer) -> object:
            try:
                return super().load(data)
            except (DataError, OverflowError, ValueError):
                return bytes(data).decode()

    return OrText


def _cut_values(text: str, columns: Sequence[Column], characters: int) -> str:
    """Rewrite a query to return pairs: the value, or NULL and the beginning of its text.

    Empty if all columns have short values. ``OFFSET 0`` prevents that an expression is computed
    twice.
    """
    if all(column.type_code in _SHORT for column in columns):
        return ""
    longest = max(characters // len(columns), 1)
    names = [f"c{number}" for number in range(len(columns))]
    pairs = [
        pair
        for name, column in zip(names, columns, strict=True)
        for pair in _build_pair(name, column.type_code, longest)
    ]
    return (
        f"SELECT {', '.join(pairs)} FROM (SELECT * FROM ({text}\n) AS q OFFSET 0) "  # noqa: S608 (checked by the guard, and by the server as one SELECT)
        f"AS q ({', '.join(names)})"
    )


def _build_pair(name: str, type_code: int, longest: int) -> tuple[str, str]:
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
        # MOVE counts on the server and transfers no row.
        moved = self._connection.execute(f'MOVE FORWARD {count} IN "{_CURSOR}"').rowcount
        return moved if moved < count else None


def _milliseconds(seconds: float) -> str:
    return str(max(1, int(seconds * 1000)))
