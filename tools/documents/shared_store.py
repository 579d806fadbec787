"""Collections that several machines share, in PostgreSQL with pgvector.

Each collection has its own schema with the same tables as a file, so that a forgotten condition
cannot mix two collections. Each process computes BM25 from the shared texts.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import sqlalchemy
from numpy.typing import NDArray
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from planweave import BadInput
from planweave.errors import StoreUnusable, require
from planweave.texts import digest
from planweave.tools.connect import fill_variables, hide_values
from planweave.tools.database import DatabaseUnavailable
from planweave.tools.documents.store import Rows, Session, Store, StoreSize
from planweave.tools.documents.vectors import HNSW_ABOVE, IndexHit, VectorSearch

_PREFIX = "planweave_documents_"
_CONNECT_SECONDS = 10
_CANDIDATES = 128  # as in the local graph
_MOST_CANDIDATES = 1000  # pgvector's limit
_MOST_DIMENSIONS = 2000  # the limit of pgvector's graph


def list_names(url: str) -> list[str]:
    """List the names of all collections in the database."""
    with _transaction(url) as database:
        rows = database.execute(
            "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace"
            " WHERE starts_with(nspname, ?)",
            (_PREFIX,),
        ).fetchall()
    return [row[0] for row in rows if row[0]]


class SharedStore(Store):
    """Reads and writes one collection in PostgreSQL."""

    _types: ClassVar[dict[str, str]] = {
        "id": "BIGINT",
        "counted": "GENERATED ALWAYS AS IDENTITY",
        "flag": "BOOLEAN",
        "bytes": "BYTEA",
        "vector": "vector",
        "rowid": "rowid BIGINT GENERATED ALWAYS AS IDENTITY,",
    }

    def __init__(self, url: str, path: Path, name: str) -> None:
        super().__init__(path, name)
        self._url = url
        self._schema = f"{_PREFIX}{digest(name, 32)}"  # names of schemas are cut at 63 bytes
        self.place = f"{url} {self._schema}"
        self.cache = path.with_suffix(".shared")

    def exists(self) -> bool:
        """See :meth:`Store.exists`."""
        with self._connect() as database:
            return _schema_exists(database, self._schema)

    def delete(self) -> None:
        """See :meth:`Store.delete`."""
        with self._connect() as database:
            database.execute(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")

    def create(self, embeddings: str) -> None:
        """See :meth:`Store.create`."""
        with self._connect() as database:
            lock = int.from_bytes(hashlib.sha256(_PREFIX.encode()).digest()[:7])
            database.execute("SELECT pg_advisory_xact_lock(?)", (lock,))
            if _schema_exists(database, self._schema):
                return
            database.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            database.execute(f"CREATE SCHEMA {self._schema}")
            database.execute(f"COMMENT ON SCHEMA {self._schema} IS ?", (self._name,))
            self._create_tables(database, embeddings)

    @staticmethod
    def _to_database(vector: NDArray[np.float32]) -> str:
        """A vector as pgvector reads it, without loss."""
        return f"[{','.join(map(str, vector))}]"

    def vector_search(self, embedding: str, rows: Rows) -> VectorSearch:
        """Search the vectors in the database; very many of them get an HNSW index there."""
        with self._connect() as database:
            found = database.execute(
                "SELECT count(*), max(vector_dims(vector)) FROM vectors WHERE embedding = ?",
                (embedding,),
            ).fetchone()
            count, size = int(found[0]), int(found[1] or 0)
            if count > HNSW_ABOVE and size <= _MOST_DIMENSIONS:
                index = f"graph_{digest(embedding)}"
                database.execute(
                    f"CREATE INDEX IF NOT EXISTS {index} ON vectors"
                    f" USING hnsw ((vector::vector({size})) vector_ip_ops) WHERE embedding = ?",
                    (embedding,),
                )
        return partial(self._find_nearest, embedding, rows)

    def _find_nearest(
        self, embedding: str, rows: Rows, query: NDArray[np.float32], k: int
    ) -> list[IndexHit]:
        """The rows of the chunks nearest to ``query`` [d], with their inner products.

        Raises:
            VersionGone: The collection has changed.
        """
        near, vector = f"vector::vector({len(query)}) <#> ?::vector", self._to_database(query)
        candidates = min(max(_CANDIDATES, k), _MOST_CANDIDATES)
        with self._at_version(rows.version) as database:
            database.execute(f"SET LOCAL hnsw.ef_search = {candidates}")
            found = database.execute(
                f"SELECT c.id, -v.distance FROM (SELECT hash, {near} AS distance FROM vectors"  # noqa: S608 (a number)
                f" WHERE embedding = ? ORDER BY {near} LIMIT ?) v"
                " JOIN chunks c ON c.hash = v.hash ORDER BY v.distance, c.id LIMIT ?",
                (vector, embedding, vector, k, k),
            ).fetchall()
        return [(int(np.searchsorted(rows.chunks, key)), float(score)) for key, score in found]

    def usage(self) -> StoreSize:
        """See :meth:`Store.usage`; without the indexes, and without space of deleted rows."""
        with self._snapshot() as database:
            found = database.execute(
                "SELECT (SELECT count(*) FROM documents),"
                " (SELECT coalesce(sum(octet_length(text)), 0) FROM pages)"
                " + (SELECT coalesce(sum(octet_length(text) + octet_length(above)), 0) FROM chunks)"
                " + (SELECT coalesce(sum(pg_column_size(vector)), 0) FROM vectors)"
            ).fetchone()
        return StoreSize(int(found[0]), int(found[1]))

    @contextmanager
    def _snapshot(self) -> Iterator[Session]:
        with self._connect("ISOLATION LEVEL REPEATABLE READ, READ ONLY") as database:
            yield database

    @contextmanager
    def _writing(self, mode: str = "READ WRITE") -> Iterator[Session]:
        with self._connect(mode) as database:
            database.execute("SELECT value FROM meta WHERE key = 'version' FOR UPDATE")
            yield database

    @contextmanager
    def _connect(self, mode: str = "READ WRITE") -> Iterator[Any]:
        with _transaction(self._url) as database:
            path = f"{self._schema}, public, extensions"  # pgvector is in one of the latter two
            database.execute(f"SET TRANSACTION {mode}; SET LOCAL search_path = {path}")
            yield database


class _Session:
    """A psycopg connection as a :class:`Session`."""

    def __init__(self, connection: Any) -> None:  # SQLAlchemy gives it no type
        self._connection = connection

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        return self._connection.execute(_with_psycopg_marks(statement), parameters)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_with_psycopg_marks(statement), rows)


@contextmanager
def _transaction(url: str) -> Iterator[_Session]:
    """One transaction on a connection of the pool; its errors are reported in one sentence."""
    try:
        engine = _engine(fill_variables(url))
    except DatabaseUnavailable as error:
        raise StoreUnusable(error.problem, fix=error.fix) from None
    import psycopg

    try:
        connection = engine.raw_connection()
        try:
            yield _Session(connection.driver_connection)
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
        finally:
            connection.close()
    except (psycopg.Error, SQLAlchemyError) as error:
        raise _translate_error(error, url) from None


@cache
def _engine(url: str) -> sqlalchemy.Engine:
    """The pool of connections to a database."""
    try:
        place = sqlalchemy.make_url(url)
    except ArgumentError:
        raise _unusable_url("PLANWEAVE_DOCUMENTS_URL is not the URL of a database.") from None
    if place.get_backend_name() != "postgresql":
        raise _unusable_url("Document collections are shared through PostgreSQL only.")
    require("A shared collection of documents", "postgresql", "psycopg")
    import psycopg

    return sqlalchemy.create_engine(
        place.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,
        connect_args={"cursor_factory": psycopg.ClientCursor, "connect_timeout": _CONNECT_SECONDS},
    )


def _unusable_url(problem: str) -> BadInput:
    return BadInput(
        problem,
        fix="Write PLANWEAVE_DOCUMENTS_URL=postgresql://user:${NAME}@host/database, where NAME is "
        "a variable that holds the password.",
    )


def _translate_error(error: Exception, url: str) -> BadInput:
    from psycopg import errors

    cause = getattr(error, "orig", None) or error
    why = hide_values((str(cause).strip().splitlines() or [type(cause).__name__])[0], url)
    if 'extension "vector"' in why:
        return BadInput(
            f"The database of the document collections has no pgvector ({why}).",
            fix="Install pgvector there, and have an administrator run: CREATE EXTENSION vector",
        )
    if isinstance(cause, errors.UndefinedTable):
        return BadInput("The document collection has been deleted meanwhile.")
    return StoreUnusable(
        f"The database of the document collections cannot be used: {why.rstrip('.')}.",
        fix="Check PLANWEAVE_DOCUMENTS_URL, that the server runs, and that its disk has space.",
    )


def _schema_exists(database: Session, schema: str) -> bool:
    found = database.execute("SELECT 1 FROM pg_namespace WHERE nspname = ?", (schema,)).fetchone()
    return found is not None


def _with_psycopg_marks(statement: str) -> str:
    """The statement with psycopg's parameter mark; our statements have no other ? or %."""
    return statement.replace("?", "%s")
