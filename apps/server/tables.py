"""The server's own tables: threads, runs, their events, and the usage of each owner."""

from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import StaticPool
from sqlalchemy.sql.functions import FunctionElement

from planweave import BadInput
from planweave.apps.server.database import ServerDatabase, postgresql_database, sqlite_database
from planweave.apps.sqlite_file import CHECKPOINTS, STORE, Columns, check
from planweave.tools.sql.database import make_unavailable_error

metadata = MetaData()
_SILENT_SECONDS = 10  # a transaction never waits, so a silent process is suspended

threads = Table(
    "planweave_threads",
    metadata,
    Column("thread_id", String(64), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("state_updated_at", Double, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("status", String(16), nullable=False),
    Column("values", Text),
    Column("interrupts", Text),
    Column("error", Text),
    Column("temporary", Boolean, nullable=False),
    Index("planweave_threads_of_owner", "owner", "updated_at"),
)

runs = Table(
    "planweave_runs",
    metadata,
    Column("run_id", String(64), primary_key=True),  # grows with time
    Column("thread_id", String(64), nullable=False),
    Column("owner", String(64), nullable=False),
    Column("person", String(320), nullable=False),
    Column("method", String(64), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("order", Text, nullable=False),
    Column("strategy", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("worker", String(64)),
    Column("attempt", Integer, nullable=False),
    Column("crashes", Integer, nullable=False),
    Column("lease", Double),
    Column("cancel", Boolean, nullable=False),
    Index("planweave_runs_of_thread", "thread_id"),
    Index("planweave_runs_of_owner", "owner", "status"),
    Index("planweave_runs_to_do", "status", "run_id"),
)
# A thread has at most one running run, even if workers race.
Index(
    "planweave_one_run_a_thread",
    runs.c.thread_id,
    unique=True,
    sqlite_where=runs.c.status == "running",
    postgresql_where=runs.c.status == "running",
)

events = Table(
    "planweave_events",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("name", String(64), nullable=False),
    Column("data", Text, nullable=False),
)

calls = Table(  # to models, saved as long as their run
    "planweave_calls",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("ended", Double, nullable=False),
    Column("record", Text, nullable=False),
)

ledger = Table(
    "planweave_ledger",
    metadata,
    Column("owner", String(64), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("runs", Integer, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("dollars", Double, nullable=False),
)

reserved = Table(  # the part of its owner's daily budget that a run may still use
    "planweave_reserved",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("tokens", BigInteger),
    Column("dollars", Double),
)


class now(FunctionElement[float]):  # noqa: N801 (reads as the SQL function that it is)
    """Seconds since 1970 by the database's clock, which is the same for all workers."""

    type = Double()
    inherit_cache = True


@compiles(now, "sqlite")
def _now_sqlite(element: now, compiler: Any, **_: Any) -> str:
    del element, compiler
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(now, "postgresql")
def _now_postgresql(element: now, compiler: Any, **_: Any) -> str:
    del element, compiler
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


def is_postgresql(url: str) -> bool:
    """Whether a URL names PostgreSQL; otherwise it is a SQLite file."""
    return url.startswith(("postgresql://", "postgresql+psycopg://", "postgres://"))


def sqlite_path(url: str) -> Path:
    """The file of a SQLite URL or path."""
    path = url.removeprefix("sqlite:///")
    if "://" in path or not Path(path).name:
        raise BadInput(
            "The server's URL is neither of PostgreSQL nor of a SQLite file.",
            fix="Write postgresql://user:password@host/database or sqlite:////folder/file.sqlite.",
        )
    return Path(path)


def sqlite_files(url: str) -> dict[Path, Columns]:
    """The files of a server with SQLite, and the tables in each."""
    path = sqlite_path(url)
    own = {table.name: tuple(table.columns.keys()) for table in metadata.tables.values()}
    return {
        path: own,
        path.with_suffix(".checkpoints.sqlite"): CHECKPOINTS,
        path.with_suffix(".memory.sqlite"): STORE,
        path.with_suffix(".turn.sqlite"): {},
    }


def address(url: str) -> URL:
    """The URL of the server's own tables, with its driver."""
    if not is_postgresql(url):
        return URL.create("sqlite", database=str(sqlite_path(url)))
    try:
        return make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        raise BadInput("The server's database URL cannot be read.") from None


def open_database(url: str) -> ServerDatabase:
    """Open the database of the server's own tables."""
    if is_postgresql(url):
        engine = create_async_engine(
            address(url), pool_size=5, max_overflow=5, pool_pre_ping=True, hide_parameters=True
        )
        event.listen(engine.sync_engine, "connect", _end_when_silent)
        return postgresql_database(engine)
    connect = {"timeout": 60, "check_same_thread": False}  # see OneThread
    own = create_engine(
        address(url), connect_args=connect, poolclass=StaticPool, hide_parameters=True
    )

    @event.listens_for(own, "connect")
    def _set_up(connection: Any, _: object) -> None:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL"):
            connection.execute(f"PRAGMA {pragma}")

    return sqlite_database(own)


def _end_when_silent(connection: Any, _: object) -> None:
    """Let PostgreSQL end the transaction of a suspended worker, whose locks block others."""
    connection.cursor().execute(
        f"SET idle_in_transaction_session_timeout = {_SILENT_SECONDS * 1000}"
    )
    connection.commit()


def check_database(url: str) -> None:
    """Connect once before any process starts; check SQLite files, and make them private."""
    if not is_postgresql(url):
        for path, columns in sqlite_files(url).items():
            check(path, columns)
        return
    engine = create_engine(address(url), connect_args={"connect_timeout": 10})
    try:
        engine.connect().close()
    except SQLAlchemyError as error:
        problem = make_unavailable_error(engine.url, error)
        raise BadInput(f"The server cannot open PLANWEAVE_SERVE_URL. {problem}") from None
    finally:
        engine.dispose()
