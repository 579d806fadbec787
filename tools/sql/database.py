"""The SQL database tool: checks a query, runs it inside limits, and explains errors."""

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
from planweave.tools.sql.describe import add_data, read_definitions, read_tables

if TYPE_CHECKING:  # the parser is loaded with the first query
    from sqlalchemy import URL
    from sqlglot import exp

    from planweave.tools.sql.guard import Statement

_LONGEST_MESSAGE = 300
_MANUAL = re.compile(r"; check the manual .* for the right syntax to use ")
_DETAIL = re.compile(r"\n(?:LINE |\tIs the server running )")  # of PostgreSQL
_LOOKUP_ROWS = 1_000
_LOOKUP_SECONDS = 0.5
_LOOKUP_SECONDS_IN_ALL = 10.0


class SqlDatabase:
    """A read-only relational database (see :class:`planweave.tools.database.Database`).

    Several threads may use it at once. If it does not answer, its methods raise
    ``DatabaseUnavailable``.
    """

    kind: Literal["relational", "graph"] = "relational"

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        # Connections end with the last user of the database.
        finalize(self, backend.engine.dispose).atexit = False
        self.language = backend.language
        self._lock = Lock()
        self._described: Schema | None = None
        self._schema: Schema | None = None
        self._stored: dict[tuple[str, str], tuple[str, ...]] = {}
        self._lookup_seconds = 0.0

    def schema(self) -> Schema:
        """Describe tables, typed columns, keys, row counts and samples; read once, then cached.

        Empty tables are read again: they may have been filled since.
        """
        tables = self._describe()
        with self._lock:
            if self._schema is None or self._schema.has_only_empty_tables:
                self._schema = add_data(tables, self._quote, self._try)
            return self._schema

    def definitions(self) -> str:
        """Return the CREATE statements of all tables and views, with the stored comments."""
        tables = self._describe()
        try:
            return read_definitions(self._backend.engine, tables)
        except self._engine_errors() as error:
            raise make_unavailable_error(self._backend.engine.url, error) from error

    def corrected(self, query: str, **asked: Unpack[Asked]) -> Corrected:
        """Correct one SELECT, which may be in a code fence."""
        from planweave.tools.sql.correct import Lookup, correct_query
        from planweave.tools.sql.guard import unwrap_query

        lookup = Lookup(self._get_values, self._has_nulls, self._counts_differ)
        dialect = self._backend.dialect
        return correct_query(unwrap_query(query), self.schema(), dialect, lookup, **asked)

    def option(self, options: Sequence[str], question: str) -> Option | None:
        """Find the column of the options; see :func:`ranking.find_option_column`."""
        from planweave.tools.sql.ranking import find_option_column

        return find_option_column(self.schema(), self._get_values, options, question)

    def ranking(
        self, query: str, option: Option, *, highest: bool, missing: Mapping[str, float]
    ) -> str:
        """Rewrite a query as a ranking of options; unchanged if it ranks nothing."""
        from planweave.tools.sql.guard import unwrap_query
        from planweave.tools.sql.ranking import build_ranking

        plain, dialect = unwrap_query(query), self._backend.dialect
        return build_ranking(plain, option, dialect, highest=highest, missing=missing) or plain

    def doubts(self, query: str, question: str, rules: str) -> tuple[str, ...]:
        """Return why the first row of a ranking may be wrong; see :func:`doubts.find_doubts`."""
        from planweave.tools.sql.doubts import find_doubts

        schema, dialect = self.schema(), self._backend.dialect
        return find_doubts(query, question, rules, schema, self._get_values, dialect)

    def odd_joins(self, query: str, question: str) -> tuple[str, ...]:
        """Return what is odd about the joins; see :func:`doubts.joins.find_odd_joins`."""
        from planweave.tools.sql.doubts.joins import find_odd_joins

        return find_odd_joins(query, question, self.schema(), self._backend.dialect)

    def linked(self, question: str) -> list[str]:
        """Return lines with the stored values and the columns that a question mentions."""
        return describe_mentions(question, self.schema(), self._get_values)

    def misspelt(self, question: str) -> tuple[str, str]:
        """Find words of a question that nearly are a stored value, and that value; or nothing."""
        return find_misspelt_value(question, self.schema(), self._get_values)

    def invented(self, query: str, question: str, explained: str = "") -> str:
        """Find an invented column; see :meth:`planweave.tools.database.Database.invented`."""
        from planweave.tools.sql.correct import find_used_columns

        columns = find_used_columns(query, self._backend.dialect)
        return find_invented_name(columns, question, self.schema(), explained=explained)

    def _quote(self, name: str) -> str:
        return str(self._backend.engine.dialect.identifier_preparer.quote(name))

    def _get_values(self, table: str, column: str) -> tuple[str, ...]:
        """Return texts of a column, as many as a short time allows; read once.

        All columns together take at most 10 s; the others of a large database have no texts then.
        """
        if self._lookup_seconds > _LOOKUP_SECONDS_IN_ALL:
            return self._stored.get((table, column), ())
        if (table, column) not in self._stored:
            started = time.perf_counter()
            name = self._quote(column)
            found = self._try(
                f"SELECT DISTINCT {name} FROM {self._quote(table)} "  # noqa: S608 (quoted names of the catalogue)
                f"WHERE {name} IS NOT NULL LIMIT {_LOOKUP_ROWS}"
            )
            cells = [row[0] for row in found.rows] if found else []
            is_text = any(isinstance(cell, str) for cell in cells) or set(cells) <= {0, 1}
            self._stored[table, column] = tuple(map(str, cells)) if is_text else ()
            self._lookup_seconds += time.perf_counter() - started
        return self._stored[table, column]

    def _counts_differ(self, counts: "exp.Select") -> bool:
        """Whether a query for two numbers returns two different ones."""
        found = self._try(counts.sql(self._backend.dialect))
        return found is not None and bool(found.rows) and found.rows[0][0] != found.rows[0][1]

    def _has_nulls(self, table: str, column: str) -> bool:
        """Whether a row has no value in a column, as far as a short time allows."""
        is_null = f"WHERE {self._quote(column)} IS NULL"
        found = self._try(f"SELECT 1 FROM {self._quote(table)} {is_null} LIMIT 1")  # noqa: S608 (quoted names of the catalogue)
        return found is not None and bool(found.rows)

    def run(self, query: str, limits: Limits = Limits()) -> QueryResult:  # noqa: B008 (frozen)
        """Run one query inside ``limits``; see :meth:`planweave.tools.database.Database.run`."""
        from planweave.tools.sql.hints import add_hint

        tables, statement = self._describe(), self._check(query)
        try:
            result = self._execute(statement.text, limits)
        except self._engine_errors() as error:
            raise self._explain(error, statement, tables, limits) from error
        return add_hint(result, statement.tree, tables, self._backend.dialect, self._try)

    def check(self, query: str) -> None:
        """Raise if the guard or the engine refuses a query; the engine only plans it."""
        text = self._check(query).text
        # PostgreSQL cannot declare a cursor for EXPLAIN.
        is_postgresql = self._backend.dialect == "postgres"
        nothing = f"SELECT 1 FROM ({text}) q WHERE false"  # noqa: S608 (the guard has checked it)
        planned = nothing if is_postgresql else f"EXPLAIN {text}"
        if self._try(planned) is None:
            raise QueryFailed("The engine cannot carry out this query.", fix="Read the schema.")

    def close(self) -> None:
        """Release all connections; safe to call twice."""
        self._backend.engine.dispose()

    def _describe(self) -> Schema:
        """Describe tables and columns without data; read once."""
        if self._described is None:
            try:
                self._described = read_tables(self._backend.engine, self.language)
            except self._engine_errors() as error:
                raise make_unavailable_error(self._backend.engine.url, error) from error
        return self._described

    def _check(self, query: str) -> "Statement":
        from planweave.tools.sql.guard import check

        return check(
            query,
            dialect=self._backend.dialect,
            tables={e.name: [one.name for one in e.fields] for e in self._describe().entities},
            schema=self._backend.engine.dialect.default_schema_name or "main",
        )

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

    def _try(self, text: str, seconds: float = _LOOKUP_SECONDS) -> QueryResult | None:
        """Run a query of this program; None if it fails or takes too long."""
        limits = Limits(seconds=seconds, rows=_LOOKUP_ROWS, characters=100_000)
        errors: tuple[type[Exception], ...] = (QueryTimeout, *self._engine_errors())
        try:
            return self._execute(text, limits)
        except errors:
            return None

    def _engine_errors(self) -> tuple[type[Exception], ...]:
        from sqlalchemy.exc import SQLAlchemyError

        driver = self._backend.engine.dialect.loaded_dbapi
        return (driver.Error, driver.Warning, SQLAlchemyError, UnicodeError)

    def _explain(
        self, error: Exception, statement: "Statement", tables: Schema, limits: Limits
    ) -> PlanweaveError:
        """Convert an error of the engine to one of this program."""
        from planweave.tools.sql.hints import suggest_fix

        backend, message = self._backend, _get_message(error)
        kind = backend.classify_error(error)
        if kind == "timeout":
            return QueryTimeout(
                f"The query was stopped after {limits.seconds:g} s.",
                fix="Join on keys, filter more, or bound the recursion.",
            )
        if kind == "refusal":
            return QueryRefused(
                f"The database forbids this: {message}.", fix="Only read the schema's tables."
            )
        if kind == "disconnect":
            return make_unavailable_error(backend.engine.url, error)
        fix = suggest_fix(message, statement, tables, backend.dialect)
        return QueryFailed(f"{self.language} says: {message}.", fix=fix)


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

    from planweave.tools.sql.sqlite import open_file, open_script

    path = text = str(url_or_path)
    if "://" in text:
        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            url = None
        if url is None or "@" in (url.host or ""):  # from an @ in the password
            raise DatabaseUnavailable(  # without a cause, which may quote a part of the password
                "The database URL cannot be read.",
                fix="Write it as postgresql://user:password@host:port/database; "
                "percent-encode special characters of the password.",
            )
        if url.get_backend_name() != "sqlite":
            return _open_server(url)
        path = url.database or ""
        if not path:  # two slashes: SQLAlchemy reads a host
            raise DatabaseUnavailable(
                "The database URL names no file.", fix="Write sqlite:///file.db."
            )
    file = Path(path)
    return SqlDatabase(open_script(file) if file.suffix.lower() == ".sql" else open_file(file))


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
        backend: Backend
        if kind == "mysql":
            from planweave.tools.sql.mysql import MysqlBackend

            backend = MysqlBackend(url)
        else:
            from planweave.tools.sql.postgresql import PostgresqlBackend

            backend = PostgresqlBackend(url)
        try:
            database = SqlDatabase(backend)
            database._describe()  # reports an unreachable server before the first query
            _check_role(backend)
        except BaseException:
            backend.engine.dispose()
            raise
    except ImportError as error:
        raise DatabaseUnavailable(
            f"The driver for {scheme}:// is not installed.",
            fix=f"Install it: pip install 'planweave[{kind}]'.",
        ) from error
    except SQLAlchemyError as error:
        raise make_unavailable_error(url, error) from error
    except PlanweaveError:
        raise
    except (OSError, TypeError, ValueError) as error:  # from an option that the driver rejects
        raise _make_option_error(url, error) from error
    return database


def _make_option_error(url: "URL", error: Exception) -> DatabaseUnavailable:
    reason = getattr(error, "strerror", None) or _get_message(error)
    file = getattr(error, "filename", None)
    options = ", ".join(sorted(url.query)) or "none"
    return DatabaseUnavailable(
        f"The driver cannot use the database URL: {reason}{f': {file}' if file else ''}.",
        fix=f"Check what is after the ? in it; its options are: {options}.",
    )


def _check_role(backend: Backend) -> None:
    """Refuse a role that could do harm if a harmful query ever passed the guard.

    Raises:
        RoleTooPowerful: The role may do more than read, and no setting allows that.
    """
    if os.environ.get("PLANWEAVE_TRUST_ROLE", "").lower() in ("1", "true", "yes", "on"):
        return
    try:
        powers = backend.find_powers()
    except backend.engine.dialect.loaded_dbapi.Error as error:
        powers = (f"what it may do cannot be determined ({_get_message(error)})",)
    if powers:
        backend.engine.dispose()
        raise RoleTooPowerful(
            f"The user of this database may do more than read: {listed(powers, 3)}.",
            fix="Connect as a user who may only SELECT (`planweave doctor --database URL` prints "
            "the SQL that makes one), or give --trust-role.",
            remedy=backend.reader.format(database=backend.engine.url.database or ""),
        )


def make_unavailable_error(url: "URL", error: Exception) -> DatabaseUnavailable:
    """Make the error for a database that does not answer, without its password."""
    reason = without(_get_message(error), str(url.password or ""))
    plain = url.set(drivername=url.get_backend_name())  # without the driver's name
    where = without_passwords(plain.render_as_string(hide_password=True))
    is_file = url.get_backend_name() == "sqlite"
    return DatabaseUnavailable(
        f"The database {where} {'cannot be read' if is_file else 'does not answer'}: {reason}.",
        fix="Restore the file from a copy, or end the program that writes to it."
        if is_file
        else "Check that it runs, the host and port, the user and the password.",
    )


def _get_message(error: Exception) -> str:
    """Return the driver's message on one line, without the statement that SQLAlchemy adds."""
    cause: BaseException = getattr(error, "orig", None) or error
    arguments: tuple[object, ...] = cause.args
    # PyMySQL's errors are (code, message).
    text = _MANUAL.sub(" ", str(arguments[1]) if len(arguments) > 1 else str(cause))
    sentence = " ".join(_DETAIL.split(text)[0].split()).rstrip(".?")
    return shorten(one_line(sentence), _LONGEST_MESSAGE)
