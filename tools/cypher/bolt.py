"""A graph server (Neo4j, or another that speaks Bolt), asked in read transactions."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from threading import Lock, Thread
from urllib.parse import SplitResult, unquote, urlsplit

from neo4j import READ_ACCESS, Driver, GraphDatabase
from neo4j.exceptions import AuthError, ClientError, Neo4jError
from neo4j.graph import Path

from planweave import PlanweaveError
from planweave.tools.cypher.cells import cut
from planweave.tools.cypher.graph import NARROW, Graph
from planweave.tools.database import (
    Cell,
    DatabaseUnavailable,
    Fetched,
    Limits,
    QueryFailed,
    QueryRefused,
    QueryTimeout,
)
from planweave.tools.slots import Slots

_COUNTED = 10_000  # rows beyond the limit that are counted; past them the total stays unknown
_CONNECTING = 10.0  # seconds


class BoltCypher(Graph):
    """A read-only graph on a server; it may be shared between threads.

    Args:
        url: ``bolt://`` or ``neo4j://`` (``+s`` for TLS), with ``user:password@`` and the name of
            the database as path, both optional.

    Raises:
        DatabaseUnavailable: The server does not answer or refuses the login.
    """

    checks_names = False
    scanned = 50_000

    def __init__(self, url: str) -> None:
        # Without a handler its warnings would be printed; the errors below say the same.
        logging.getLogger("neo4j").addHandler(logging.NullHandler())
        parts = _read(url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        self._place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._database = parts.path.strip("/") or None
        self._lock = Lock()  # of the two below: the driver may not be closed while a query uses it
        self._running = 0
        self._slots = Slots(most=32, share=8)
        self._closed = False
        try:
            self._driver: Driver = GraphDatabase.driver(
                self._place + (f"?{parts.query}" if parts.query else ""),
                auth=(user, password) if user else None,
                connection_timeout=_CONNECTING,
                connection_acquisition_timeout=_CONNECTING,
                max_transaction_retry_time=0,
                telemetry_disabled=True,  # what of the driver is used is nobody's business
            )
        except Exception as error:  # the driver raises a dozen kinds for a bad URL
            raise self._unavailable("is not an address that can be used") from error
        self._genuine = self._is_neo4j()
        self.language = "Cypher (Neo4j)" if self._genuine else "Cypher (openCypher server)"

    def close(self) -> None:
        """Close all connections, at the latest when a query left behind has ended.

        Safe to call twice.
        """
        with self._lock:
            self._closed = True
            if not self._running:
                self._driver.close()

    def _is_neo4j(self) -> bool:
        """Whether the server is Neo4j itself, whose EXPLAIN tells reads from writes."""
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
        except Exception as error:  # and a dozen kinds more for a server that is not there
            cause = error
        self._driver.close()
        raise self._unavailable(reason) from cause

    def ask(self, statement: str, limits: Limits, *, own: bool = False) -> Fetched:
        """Run in a thread of its own: not every server keeps the time limit it is given."""
        outcome: list[Fetched | Exception] = []

        def work() -> None:
            try:
                outcome.append(self._execute(statement, limits, own))
            except Exception as error:  # handed to the caller's thread below
                outcome.append(error)
            finally:
                self._ended()

        end = time.monotonic() + limits.seconds
        with self._slots.take(limits.owner, limits.seconds):
            with self._lock:
                self._running += 1
            thread = Thread(target=work, daemon=True)
            thread.start()
            thread.join(max(end - time.monotonic(), 0))
        if not outcome:
            raise _too_long(limits)
        if isinstance(outcome[0], Exception):
            raise self._translated(outcome[0], limits) from outcome[0]
        return outcome[0]

    def _ended(self) -> None:
        """Count a query as ended; the last one closes the connections if nobody wants them."""
        with self._lock:
            self._running -= 1
            if self._closed and not self._running:
                self._driver.close()

    def _execute(self, query: str, limits: Limits, own: bool) -> Fetched:
        with (
            self._driver.session(
                database=self._database, default_access_mode=READ_ACCESS, fetch_size=limits.rows + 1
            ) as session,
            session.begin_transaction(timeout=limits.seconds) as transaction,
        ):
            if self._genuine and not own:  # the server itself says whether it only reads
                plan = transaction.run(f"EXPLAIN {query}")
                if plan.consume().query_type != "r":
                    raise QueryRefused("The server says that this query writes.", fix="Only read.")
            result = transaction.run(query)
            head = [[_cell(v) for v in record.values()] for record in islice(result, limits.rows)]
            more = sum(1 for _ in islice(result, _COUNTED + 1))
            total = None if more > _COUNTED else len(head) + more
            return Fetched(result.keys(), cut(head, limits.characters), total)

    def _translated(self, error: Exception, limits: Limits) -> PlanweaveError:
        """The driver's error as one of ours."""
        if isinstance(error, PlanweaveError):
            return error
        if not isinstance(error, Neo4jError):
            return self._unavailable("does not answer any more")
        code = error.code or ""
        if "TimedOut" in code or "Terminated" in code:
            return _too_long(limits)
        if "AccessMode" in code or "Forbidden" in code:
            return QueryRefused("The server refuses the query: this user may only read.")
        if ".Security." in code or ".Database." in code:
            return self._unavailable("does not open the database to this user")
        reason = (error.message or "no reason given").splitlines()[0].rstrip(". ")
        return QueryFailed(f"The engine rejects the query: {reason}.")

    def _unavailable(self, reason: str) -> DatabaseUnavailable:
        return DatabaseUnavailable(
            f"The graph server {self._place} {reason}.",
            fix="Check that it runs, and check address, user, password and database name.",
        )


def _read(url: str) -> SplitResult:
    """The parts of a URL; one with a bare mark in its password cannot be distinguished safely."""
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


def _too_long(limits: Limits) -> QueryTimeout:
    return QueryTimeout(
        f"The query takes too long; it was stopped ({limits.seconds:g} s).",
        fix=NARROW,
    )


def _cell(value: object) -> Cell:
    """A value of the driver as a plain cell: a node becomes its properties, a path a list."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        steps = [
            item for pair in zip(value.nodes, value.relationships, strict=False) for item in pair
        ]
        return [_cell(item) for item in [*steps, value.end_node]]
    if isinstance(value, Mapping):
        return {str(key): _cell(item) for key, item in value.items()}
    iso: Callable[[], str] | None = getattr(value, "iso_format", None)  # dates, times, durations
    if iso is not None:
        return iso()
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [_cell(item) for item in value]
    return str(value)
