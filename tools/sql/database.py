"""The SQL database tool: guard, run inside limits, and answer so that a model can act on it."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, Unpack
from weakref import finalize

from planweave import PlanweaveError
from planweave.redact import without, without_passwords
from planweave.texts import listed, shorten
from planweave.tools.database import (
    Asked,
    Corrected,
    DatabaseUnavailable,
    Limits,
    Option,
    QueryFailed,
    QueryRefused,
    QueryResult,
    QueryTimeout,
    RoleTooPowerful,
    Schema,
)
from planweave.tools.invented import find_invented_name
from planweave.tools.linking import describe_mentions, find_misspelt_value
from planweave.tools.result_text import one_line
from planweave.tools.sql.backend import Backend
from planweave.tools.sql.describe import catalogue, definitions, with_data

if TYPE_CHECKING:  # what reads queries is loaded with the first of them
    from sqlalchemy import URL
    from sqlglot import exp

    from planweave.tools.sql.guard import Statement

_LONGEST_MESSAGE = 300
_MANUAL = re.compile(r"; check the manual .* for the right syntax to use ")
_ASIDE = re.compile(r"\n(?:LINE |\tIs the server running )")  # of PostgreSQL
_LOOKED_UP = 1_000
_LOOKING_UP_SECONDS = 0.5
_LOOKING_UP_SECONDS_IN_ALL = 10.0


class SqlDatabase:
    """A read-only relational database (see :class:`planweave.tools.database.Database`).

    It may be used from several threads at once.
    """

    kind: Literal["relational", "graph"] = "relational"

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        # Connections end with the last user of a database that is no longer kept open.
        finalize(self, backend.engine.dispose).atexit = False
        self.language = backend.language
        self._lock = Lock()
        self._catalogue: Schema | None = None
        self._schema: Schema | None = None
        self._stored: dict[tuple[str, str], tuple[str, ...]] = {}
        self._looking_up = 0.0

    def schema(self) -> Schema:
        """Describe tables, typed columns, keys, row counts and samples; read once, then kept.

        Raises:
            DatabaseUnavailable: The database does not answer.
        """
        tables = self._tables()
        with self._lock:
            if self._schema is None:
                quote = self._backend.engine.dialect.identifier_preparer.quote
                self._schema = with_data(tables, lambda name: str(quote(name)), self._try)
            return self._schema

    def definitions(self) -> str:
        """The CREATE statements of all tables and views, comments included where they are kept.

        Raises:
            DatabaseUnavailable: The database does not answer.
        """
        tables = self._tables()
        try:
            return definitions(self._backend.engine, tables)
        except self._engine_errors() as error:
            raise unavailable(self._backend.engine.url, error) from error

    def corrected(self, query: str, **asked: Unpack[Asked]) -> Corrected:
        """Correct one SELECT, in a code fence perhaps.

        Raises:
            DatabaseUnavailable: The database does not answer.
        """
        from planweave.tools.sql.correct import Data, corrected
        from planweave.tools.sql.guard import unwrapped

        data = Data(self._values, self._lacking, self._several)
        return corrected(unwrapped(query), self.schema(), self._backend.dialect, data, **asked)

    def option(self, options: Sequence[str], question: str) -> Option | None:
        """The column that holds the options of a decision; see :func:`ranking.option_column`."""
        from planweave.tools.sql.ranking import option_column

        return option_column(self.schema(), self._values, options, question)

    def ranking(
        self, query: str, option: Option, *, highest: bool, missing: Mapping[str, float]
    ) -> str:
        """The query with one row for each option, the best first; as it is if it ranks nothing."""
        from planweave.tools.sql.guard import unwrapped
        from planweave.tools.sql.ranking import as_ranking

        plain, dialect = unwrapped(query), self._backend.dialect
        return as_ranking(plain, option, dialect, highest=highest, missing=missing) or plain

    def doubts(self, query: str, question: str, rules: str) -> tuple[str, ...]:
        """Why the first row of a ranking may not be what is asked; see :func:`doubts.doubts`."""
        from planweave.tools.sql.doubts import doubts

        return doubts(query, question, rules, self.schema(), self._values, self._backend.dialect)

    def linked(self, question: str) -> list[str]:
        """Lines that say which stored values and which columns a question speaks of.

        Raises:
            DatabaseUnavailable: The database does not answer.
        """
        return describe_mentions(question, self.schema(), self._values)

    def misspelt(self, question: str) -> tuple[str, str]:
        """Words of a question that are nearly a stored value, and that value; or nothing."""
        return find_misspelt_value(question, self.schema(), self._values)

    def invented(self, query: str, question: str, explained: str = "") -> str:
        """A column that only the question has; see :class:`planweave.tools.database.Database`."""
        from planweave.tools.sql.correct import columns_read

        columns = columns_read(query, self._backend.dialect)
        return find_invented_name(columns, question, self.schema(), explained=explained)

    def _values(self, table: str, column: str) -> tuple[str, ...]:
        """Texts that a column holds, as many as a short time allows; read once.

        Of a database with very many columns only some are read: all together take 10 s at most.
        """
        if self._looking_up > _LOOKING_UP_SECONDS_IN_ALL:
            return self._stored.get((table, column), ())
        if (table, column) not in self._stored:
            started = time.perf_counter()
            preparer = self._backend.engine.dialect.identifier_preparer
            name = str(preparer.quote(column))
            found = self._try(
                f"SELECT DISTINCT {name} FROM {preparer.quote(table)} "  # noqa: S608 (names of the catalogue, quoted)
                f"WHERE {name} IS NOT NULL LIMIT {_LOOKED_UP}",
                _LOOKING_UP_SECONDS,
            )
            cells = [row[0] for row in found.rows] if found else []
            is_text = any(isinstance(cell, str) for cell in cells) or set(cells) <= {0, 1}
            self._stored[table, column] = tuple(map(str, cells)) if is_text else ()
            self._looking_up += time.perf_counter() - started
        return self._stored[table, column]

    def _several(self, counting: "exp.Select") -> bool:
        """Whether a query for two numbers gives two that differ."""
        found = self._try(counting.sql(self._backend.dialect), _LOOKING_UP_SECONDS)
        return found is not None and bool(found.rows) and found.rows[0][0] != found.rows[0][1]

    def _lacking(self, table: str, column: str) -> bool:
        """Whether a row has no value in a column, as far as a short time can tell."""
        quote = self._backend.engine.dialect.identifier_preparer.quote
        query = f"SELECT 1 FROM {quote(table)} WHERE {quote(column)} IS NULL LIMIT 1"  # noqa: S608 (names of the catalogue, quoted)
        found = self._try(query, _LOOKING_UP_SECONDS)
        return found is not None and bool(found.rows)

    def run(self, query: str, limits: Limits = Limits()) -> QueryResult:  # noqa: B008 (frozen)
        """Run one read-only query inside ``limits``.

        Raises:
            QueryRefused: The guard or the engine found anything but a single plain read.
            QueryTimeout: The time limit passed.
            QueryFailed: The query is wrong; ``fix`` says what it could have meant.
            DatabaseUnavailable: The connection is gone.
        """
        from planweave.tools.sql.guard import check
        from planweave.tools.sql.hints import with_hint

        tables = self._tables()
        statement = check(
            query,
            dialect=self._backend.dialect,
            tables={e.name: [field.name for field in e.fields] for e in tables.entities},
            schema=self._backend.engine.dialect.default_schema_name or "main",
        )
        try:
            result = self._execute(statement.text, limits)
        except self._engine_errors() as error:
            raise self._explained(error, statement, tables, limits) from error
        return with_hint(result, statement.tree, tables, self._backend.dialect, self._try)

    def close(self) -> None:
        """Release all connections; safe to call twice."""
        self._backend.engine.dispose()

    def _tables(self) -> Schema:
        """Tables and columns without data, read once."""
        if self._catalogue is None:
            try:
                self._catalogue = catalogue(self._backend.engine, self.language)
            except self._engine_errors() as error:
                raise unavailable(self._backend.engine.url, error) from error
        return self._catalogue

    def _execute(self, text: str, limits: Limits) -> QueryResult:
        start = time.monotonic()
        found = self._backend.run(text, limits)
        return QueryResult(
            query=text,
            columns=tuple(found.columns),
            rows=tuple(tuple(row) for row in found.rows),
            total_rows=found.total,
            seconds=time.monotonic() - start,
        )

    def _try(self, text: str, seconds: float) -> QueryResult | None:
        """Run a query of our own; None if it fails or takes longer than ``seconds``."""
        try:
            return self._execute(text, Limits(seconds=seconds, rows=_LOOKED_UP, characters=100_000))
        except QueryTimeout:
            return None
        except self._engine_errors():
            return None

    def _engine_errors(self) -> tuple[type[Exception], ...]:
        from sqlalchemy.exc import SQLAlchemyError

        driver = self._backend.engine.dialect.loaded_dbapi
        return (driver.Error, driver.Warning, SQLAlchemyError, UnicodeError)

    def _explained(
        self, error: Exception, statement: "Statement", tables: Schema, limits: Limits
    ) -> PlanweaveError:
        """The engine's error as one of ours."""
        from planweave.tools.sql.hints import fix

        backend, message = self._backend, _message_of(error)
        if backend.is_timeout(error):
            return QueryTimeout(
                f"The query was stopped after {limits.seconds:g} s.",
                fix="Join on keys, filter more, or bound the recursion.",
            )
        if backend.is_refusal(error):
            return QueryRefused(
                f"The database forbids this: {message}.", fix="Only read the schema's tables."
            )
        if backend.is_disconnect(error):
            return unavailable(backend.engine.url, error)
        meant = fix(message, statement, tables, backend.dialect)
        return QueryFailed(f"{self.language} says: {message}.", fix=meant)


def open_sql(url_or_path: str | Path) -> SqlDatabase:
    """Open a database for reading.

    Args:
        url_or_path: ``sqlite:///file.db``, the path of a SQLite file, the path of a ``.sql``
            script (loaded into memory), ``postgresql://user:password@host/database``, or the same
            with ``mysql://`` or ``mariadb://``.

    Raises:
        DatabaseUnavailable: It is missing, broken, of an unknown kind, or does not answer.
        RoleTooPowerful: The server's role may do more than read.
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    text = str(url_or_path)
    if "://" not in text:
        return _open_path(Path(text))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise _unreadable() from None  # the cause may quote a part of the password
    if url.get_backend_name() == "sqlite":
        if not url.database:  # two slashes: to SQLAlchemy a host
            raise DatabaseUnavailable(
                "The database URL names no file.", fix="Write sqlite:///file.db."
            )
        return _open_path(Path(url.database))
    if "@" in (url.host or ""):  # a part of a password with a bare @
        raise _unreadable()
    return _open_server(url)


def _unreadable() -> DatabaseUnavailable:
    return DatabaseUnavailable(
        "The database URL cannot be read.",
        fix="Write it as postgresql://user:password@host:port/database; "
        "percent-encode special characters of the password.",
    )


def _open_path(path: Path) -> SqlDatabase:
    from planweave.tools.sql.sqlite import open_file, open_script

    return SqlDatabase(open_script(path) if path.suffix.lower() == ".sql" else open_file(path))


def _open_server(url: "URL") -> SqlDatabase:
    from sqlalchemy.exc import SQLAlchemyError

    scheme = url.get_backend_name()
    kind = {"postgres": "postgresql", "mariadb": "mysql"}.get(scheme, scheme)
    if kind not in ("postgresql", "mysql"):
        raise DatabaseUnavailable(
            f"{scheme}:// is no SQL database that can be opened here.",
            fix="Use sqlite:///, postgresql://, mysql:// or mariadb://, or the path of a file.",
        )
    try:
        opened = _server(kind, url)
        try:
            database = SqlDatabase(opened)
            database._tables()  # an unreachable server is said now, not at the first query
            _check_role(opened)
        except BaseException:
            opened.engine.dispose()
            raise
    except ImportError as error:
        raise DatabaseUnavailable(
            f"The driver for {scheme}:// is not installed.",
            fix=f"Install it: pip install 'planweave[{kind}]'.",
        ) from error
    except SQLAlchemyError as error:
        raise unavailable(url, error) from error
    except PlanweaveError:
        raise
    except (OSError, TypeError, ValueError) as error:  # what a driver makes of an odd option
        raise _unusable_option(url, error) from error
    return database


def _server(kind: str, url: "URL") -> Backend:
    if kind == "mysql":
        from planweave.tools.sql.mysql import MysqlBackend

        return MysqlBackend(url)
    from planweave.tools.sql.postgresql import PostgresqlBackend

    return PostgresqlBackend(url)


def _unusable_option(url: "URL", error: Exception) -> DatabaseUnavailable:
    reason = getattr(error, "strerror", None) or _message_of(error)
    file = getattr(error, "filename", None)
    options = ", ".join(sorted(url.query)) or "none"
    return DatabaseUnavailable(
        f"The driver cannot use the database URL: {reason}{f': {file}' if file else ''}.",
        fix=f"Check what is after the ? in it; its options are: {options}.",
    )


def _check_role(backend: Backend) -> None:
    """Refuse a role that can do harm if ever a query passes the guard that should not.

    Raises:
        RoleTooPowerful: The role may do more than read, and nobody has said that it is meant.
    """
    if os.environ.get("PLANWEAVE_TRUST_ROLE", "").lower() in ("1", "true", "yes", "on"):
        return
    try:
        powers = backend.powers()
    except backend.engine.dialect.loaded_dbapi.Error as error:
        powers = (f"what it may do cannot be found out ({_message_of(error)})",)
    if powers:
        backend.engine.dispose()
        raise RoleTooPowerful(
            f"The user of this database may do more than read: {listed(powers, 3)}.",
            fix="Connect as a user who may only SELECT (`planweave doctor --database URL` prints "
            "the SQL that makes one), or give --trust-role.",
            remedy=backend.reader.format(database=backend.engine.url.database or ""),
        )


def unavailable(url: "URL", error: Exception) -> DatabaseUnavailable:
    """Say that a database does not answer, with the reason and without the password."""
    reason = _message_of(error)
    reason = without(reason, str(url.password or ""))
    plain = url.set(drivername=url.get_backend_name())  # without the driver's name
    where = without_passwords(plain.render_as_string(hide_password=True))
    is_file = url.get_backend_name() == "sqlite"
    return DatabaseUnavailable(
        f"The database {where} {'cannot be read' if is_file else 'does not answer'}: {reason}.",
        fix="Restore the file from a copy, or end the program that writes to it."
        if is_file
        else "Check that it runs, the host and port, the user and the password.",
    )


def _message_of(error: Exception) -> str:
    """The driver's message on one line, without the statement that SQLAlchemy adds to it."""
    cause: BaseException = getattr(error, "orig", None) or error
    arguments: tuple[object, ...] = cause.args
    # PyMySQL's errors are (code, message).
    text = _MANUAL.sub(" ", str(arguments[1]) if len(arguments) > 1 else str(cause))
    sentence = " ".join(_ASIDE.split(text)[0].split()).rstrip(".?")
    return shorten(one_line(sentence), _LONGEST_MESSAGE)
