"""A graph server (Neo4j, or another with the Bolt protocol), queried in read transactions."""

import logging
import time
from collections.abc import Callable
from itertools import islice
from threading import Lock, Thread
from urllib.parse import SplitResult, unquote, urlsplit

from neo4j import READ_ACCESS, Driver, GraphDatabase
from neo4j.exceptions import AuthError, ClientError, Neo4jError
from neo4j.graph import Path

from planweave import PlanweaveError
from planweave.tools.cypher.cells import cut_rows, path_items, to_cell
from planweave.tools.cypher.graph import Graph, query_timeout
from planweave.tools.database import DatabaseUnavailable, Fetched, Limits, QueryFailed, QueryRefused
from planweave.tools.slots import Slots

_MAX_COUNTED = 10_000
"""Rows beyond the limit that are counted; if there are more, the total stays unknown."""
_CONNECTION_SECONDS = 10.0


class BoltCypher(Graph):
    """A read-only graph on a server; threads may share it.

    Args:
        url: ``bolt://`` or ``neo4j://`` (``+s`` for TLS), with ``user:password@`` and the name of
            the database as path, both optional.

    Raises:
        DatabaseUnavailable: The server does not answer or refuses the login.
    """

    checks_names = False
    scanned = 50_000

    def __init__(self, url: str) -> None:
        # Without a handler the driver's warnings would be printed; the errors below replace them.
        logging.getLogger("neo4j").addHandler(logging.NullHandler())
        parts = _split_url(url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        self._address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._database = parts.path.strip("/") or None
        # The lock guards the next two: the driver may not be closed while a query uses it.
        self._lock = Lock()
        self._running = 0
        self._closed = False
        self._slots = Slots(most=32, share=8)
        try:
            self._driver: Driver = GraphDatabase.driver(
                self._address + (f"?{parts.query}" if parts.query else ""),
                auth=(user, password) if user else None,
                connection_timeout=_CONNECTION_SECONDS,
                connection_acquisition_timeout=_CONNECTION_SECONDS,
                max_transaction_retry_time=0,
                telemetry_disabled=True,
            )
        except Exception as error:  # the driver raises a dozen types for a bad URL
            raise self._unavailable("is not an address that can be used") from error
        self._genuine = self._is_neo4j()
        self.language = "Cypher (Neo4j)" if self._genuine else "Cypher (openCypher server)"

    def close(self) -> None:
        """Close all connections once no query runs any more; safe to call twice."""
        with self._lock:
            self._closed = True
            if not self._running:
                self._driver.close()

    def _is_neo4j(self) -> bool:
        """Whether the server is Neo4j itself, whose EXPLAIN distinguishes reads from writes."""
        reason = "does not answer"
        try:
            with self._driver.session(database=self._database) as session:
                server = session.run("RETURN 1").consume().server
            return "compatible" not in server.agent
        except AuthError as error:
            cause: Exception = error
            reason = "refuses the user or the password"
        except ClientError as error:
            cause, reason = error, f"does not open the database {self._database or 'by default'}"
        except Exception as error:  # a dozen other types for an absent server
            cause = error
        self._driver.close()
        raise self._unavailable(reason) from cause

    def fetch(self, statement: str, limits: Limits, *, is_trusted: bool = False) -> Fetched:
        """Run in a separate thread: not every server keeps to the time limit."""
        outcome: list[Fetched | Exception] = []

        def work() -> None:
            try:
                outcome.append(self._execute(statement, limits, is_trusted=is_trusted))
            except Exception as error:  # the caller's thread raises it
                outcome.append(error)
            finally:
                self._finish_query()

        end = time.monotonic() + limits.seconds
        with self._slots.take(limits.owner, limits.seconds):
            with self._lock:
                self._running += 1
            thread = Thread(target=work, daemon=True)
            thread.start()
            thread.join(max(end - time.monotonic(), 0))
        if not outcome:
            raise query_timeout("takes too long", limits)
        if isinstance(outcome[0], Exception):
            raise self._translate_error(outcome[0], limits) from outcome[0]
        return outcome[0]

    def _finish_query(self) -> None:
        """Count a query as ended; the last one closes the connections after ``close``."""
        with self._lock:
            self._running -= 1
            if self._closed and not self._running:
                self._driver.close()

    def _execute(self, query: str, limits: Limits, *, is_trusted: bool) -> Fetched:
        with (
            self._driver.session(
                database=self._database, default_access_mode=READ_ACCESS, fetch_size=limits.rows + 1
            ) as session,
            session.begin_transaction(timeout=limits.seconds) as transaction,
        ):
            if self._genuine and not is_trusted:
                plan = transaction.run(f"EXPLAIN {query}")
                if plan.consume().query_type != "r":
                    raise QueryRefused("The server says that this query writes.", fix="Only read.")
            result = transaction.run(query)
            rows = [
                [to_cell(value, _convert) for value in record.values()]
                for record in islice(result, limits.rows)
            ]
            more = sum(1 for _ in islice(result, _MAX_COUNTED + 1))
            total = None if more > _MAX_COUNTED else len(rows) + more
            return Fetched(result.keys(), cut_rows(rows, limits.characters), total)

    def _translate_error(self, error: Exception, limits: Limits) -> PlanweaveError:
        """The error of this package for an error of the driver."""
        if isinstance(error, PlanweaveError):
            return error
        if not isinstance(error, Neo4jError):
            return self._unavailable("does not answer any more")
        code = error.code or ""
        if "TimedOut" in code or "Terminated" in code:
            return query_timeout("takes too long", limits)
        if "AccessMode" in code or "Forbidden" in code:
            return QueryRefused("The server refuses the query: this user may only read.")
        if ".Security." in code or ".Database." in code:
            return self._unavailable("does not open the database to this user")
        reason = (error.message or "no reason given").splitlines()[0].rstrip(". ")
        return QueryFailed(f"The engine rejects the query: {reason}.")

    def _unavailable(self, reason: str) -> DatabaseUnavailable:
        return DatabaseUnavailable(
            f"The graph server {self._address} {reason}.",
            fix="Check that it runs, and check address, user, password and database name.",
        )


def _split_url(url: str) -> SplitResult:
    """Split a URL; refuse one whose password may contain unescaped special characters."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    if not parts.netloc or "@" in parts.path + parts.query + parts.fragment:
        raise DatabaseUnavailable(
            "The graph URL cannot be read.",
            fix="Write it as bolt://user:password@host:port; "
            "percent-encode special characters of the password.",
        )
    return parts


def _convert(value: object) -> object:
    """A path as a list; a date, time or duration as text; others unchanged."""
    if isinstance(value, Path):
        return path_items(value.nodes, value.relationships)
    iso_format: Callable[[], str] | None = getattr(value, "iso_format", None)
    return iso_format() if iso_format else value
