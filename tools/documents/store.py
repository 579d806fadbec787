"""The store of a collection: one SQLite file of documents, pages, chunks and vectors."""

import hashlib
import re
import sqlite3
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
import platformdirs
from numpy.typing import NDArray
from pydantic import Field
from pydantic_settings import SettingsConfigDict

from planweave import BadInput
from planweave.errors import StoreUnusable
from planweave.state import ProcessSettings, is_file_name, private_folder, read_settings
from planweave.tools.documents.chunks import PageChunk
from planweave.tools.documents.pages import Document, DocumentLimits, PageText, Paging

if TYPE_CHECKING:
    from planweave.tools.documents.vectors import VectorSearch

_NAME = re.compile(r"\w[\w-]{0,63}(?:/\w[\w-]{0,63})?")
_BUSY_SECONDS = 60.0
_SEARCHED = "CASE above WHEN '' THEN text ELSE above || '\n' || text END"
"""The text of a chunk that is embedded and indexed: the names of its rows, then its text."""
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE documents (
    id {id} PRIMARY KEY {counted}, name TEXT NOT NULL UNIQUE, source TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL, recipe TEXT NOT NULL, bytes {id} NOT NULL, added TEXT NOT NULL,
    paging TEXT NOT NULL
);
CREATE INDEX by_digest ON documents (digest);
CREATE TABLE pages (
    document {id} NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    number INTEGER NOT NULL, text TEXT NOT NULL, image_only {flag} NOT NULL, {rowid}
    PRIMARY KEY (document, number)
);
CREATE TABLE chunks (
    id {id} PRIMARY KEY {counted},
    document {id} NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    page INTEGER NOT NULL, text TEXT NOT NULL, above TEXT NOT NULL, hash {bytes} NOT NULL
);
CREATE INDEX by_document ON chunks (document);
CREATE INDEX by_hash ON chunks (hash);
CREATE TABLE vectors (
    hash {bytes} NOT NULL, embedding TEXT NOT NULL, vector {vector} NOT NULL,
    PRIMARY KEY (hash, embedding)
)
"""


class DocumentSettings(ProcessSettings):
    """The place of collections and the cutting of documents (``PLANWEAVE_*``, ``.env``)."""

    model_config = SettingsConfigDict(frozen=True, use_attribute_docstrings=True)

    data_dir: Path = Field(default_factory=lambda: platformdirs.user_data_path("planweave"))
    chunk_tokens: int = Field(default=100, ge=10, le=10_000)
    """Length of a chunk."""
    chunk_overlap: int = Field(default=0, ge=0)
    """Tokens at the end of a chunk that begin the next as well."""
    document_megabytes: int = Field(default=200, ge=1)
    """A larger file is refused."""
    document_pages: int = Field(default=10_000, ge=1)
    """A longer one is refused."""
    document_characters: int = Field(default=50_000_000, ge=1)
    """A document with more text is refused."""
    document_seconds: float = Field(default=6.0, gt=0)
    """Processor time that parsing a small file may take; a large one gets more."""
    document_memory_megabytes: int = Field(default=1_024, ge=256)
    """Memory that parsing a small file may take."""
    documents_url: str = ""
    """PostgreSQL database that stores all collections, for several machines."""
    private_urls: bool = False
    """Whether documents may come from private network addresses."""

    def limits(self) -> DocumentLimits:
        """The largest document."""
        return DocumentLimits(
            bytes=self.document_megabytes * 1_000_000,
            pages=self.document_pages,
            characters=self.document_characters,
            seconds=self.document_seconds,
            memory=self.document_memory_megabytes << 20,
        )


def settings() -> DocumentSettings:
    """Settings of this process; see :func:`read_settings`."""
    return read_settings(DocumentSettings)


@dataclass(frozen=True)
class DocumentInfo:
    """A document of a collection.

    Attributes:
        digest: SHA-256 of the file.
        added: ISO date and time in UTC.
        paging: What a page is: a page of the file, or a section or part of its text.
        image_pages: Pages with images and no text; search finds nothing on them.
    """

    name: str
    pages: int
    chunks: int
    bytes: int
    digest: str
    added: str
    paging: Paging
    image_pages: tuple[int, ...]


class Entry(NamedTuple):
    """A document to store."""

    document: Document
    chunks: Sequence[PageChunk]
    source: str
    names: Iterable[str]  # it gets the first free one
    digest: str  # SHA-256 of the file
    recipe: str  # how it was read and cut
    size: int  # bytes of the file


class StoreSize(NamedTuple):
    """The number of documents, and the bytes of them and of all that is derived from them."""

    documents: int
    bytes: int


class VersionGone(Exception):
    """The collection has changed since its version was read."""


class KnownDocument(NamedTuple):
    """A document that is already in the collection."""

    name: str
    source: str
    digest: str
    recipe: str


class Chunk(NamedTuple):
    """A chunk, with the text of its page."""

    document: str
    page: int
    text: str
    chunk: str


class Rows(NamedTuple):
    """All chunks at one version of the collection, in the order of their ids.

    Attributes:
        chunks: Their ids [n].
        pages: An arbitrary number of the page of each [n].
    """

    version: str
    chunks: NDArray[np.int64]
    pages: NDArray[np.int64]


def documents_folder() -> Path:
    """The folder of the collections; the first collection creates it."""
    return settings().data_dir / "documents"


def path_of(name: str) -> Path:
    """The file of the collection ``name``, such as energy or alice/energy."""
    if not is_file_name(name, _NAME):
        raise BadInput(
            f"{name!r} cannot be the name of a collection.",
            fix="Use letters, digits, - and _, with the owner's name before a slash if need be, "
            "such as energy or alice/energy.",
        )
    return documents_folder() / f"{name}.sqlite"


def collections(owner: str | None = None) -> list[str]:
    """Names of all collections, or of one owner's."""
    if owner:
        path_of(owner)  # refuses names that could lead out of the folder
    if url := settings().documents_url:
        from planweave.tools.documents.shared_store import list_names

        every = list_names(url)
    else:
        folder = documents_folder()
        paths = folder.glob("**/*.sqlite")
        every = [path.relative_to(folder).with_suffix("").as_posix() for path in paths]
    return sorted(name for name in every if not owner or name.startswith(f"{owner}/"))


class Session(Protocol):
    """The interface of a connection; every ``?`` in a statement is a parameter."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Any: ...  # noqa: D102

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Any: ...  # noqa: D102


class Store:
    """Reads and writes the file of one collection; safe for threads and processes at once.

    Every change is one transaction: a process that is killed leaves a document whole or absent.

    Attributes:
        place: A string that is unique among all collections that this process may open.
        cache: The folder of the indexes of this collection.
    """

    _types: ClassVar[dict[str, str]] = {
        "id": "INTEGER",
        "counted": "AUTOINCREMENT",
        "flag": "INTEGER",
        "bytes": "BLOB",
        "vector": "BLOB",
        "rowid": "",  # every table has one
    }

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.place = str(path)
        self.cache = path.with_suffix(".index")
        self._name = name

    def exists(self) -> bool:
        """Whether the collection exists."""
        return self.path.is_file()

    def delete(self) -> None:
        """Delete the collection with everything in it."""
        self.path.unlink(missing_ok=True)
        self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)

    def create(self, embeddings: str) -> None:
        """Create the file, unless it exists."""
        for folder in (documents_folder(), self.path.parent):
            private_folder(folder, "documents", "PLANWEAVE_DATA_DIR")
        with self._writing("rwc") as database:
            if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._create_tables(database, embeddings)

    def meta(self, key: str) -> str:
        """A property of the collection: its ``version`` (new at every change), ``embeddings``."""
        with self._connect() as database:
            return _read_meta(database, key)

    def set_meta(self, key: str, value: str) -> None:
        """Set a property of the collection."""
        if self.meta(key) != value:
            with self._connect() as database:
                database.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))

    def known(self, source: str, digest: str) -> KnownDocument | None:
        """The document from ``source``, or else the one with the same bytes."""
        rows = self._read(
            "SELECT name, source, digest, recipe FROM documents WHERE source = ? OR digest = ?"
            " ORDER BY source = ? DESC LIMIT 1",
            (source, digest, source),
        )
        return KnownDocument(*rows[0]) if rows else None

    def put(self, entries: Iterable[Entry]) -> list[str]:
        """Add documents at once, or replace those from the same sources; returns their names."""
        with self._new_version() as database:
            return [_put_entry(database, entry) for entry in entries]

    def remove(self, names: Iterable[str]) -> None:
        """Remove documents with all that was derived from them."""
        with self._new_version() as database:
            database.executemany(
                "DELETE FROM documents WHERE name = ?", [(name,) for name in names]
            )

    def documents(self, name: str | None = None) -> list[DocumentInfo]:
        """All documents by name, or the one of that name."""
        with self._snapshot() as database:
            rows = database.execute(
                "SELECT name, (SELECT count(*) FROM pages WHERE document = d.id),"
                " (SELECT count(*) FROM chunks WHERE document = d.id), bytes, digest, added, paging"
                " FROM documents d WHERE ? IS NULL OR name = ?",
                (name, name),
            ).fetchall()
            images = database.execute(
                "SELECT d.name, p.number FROM pages p JOIN documents d ON d.id = p.document"
                " WHERE p.image_only ORDER BY p.number"
            ).fetchall()
        of_images: defaultdict[str, list[int]] = defaultdict(list)
        for document, page in images:
            of_images[document].append(page)
        return [DocumentInfo(*(*row, tuple(of_images[row[0]]))) for row in sorted(rows)]

    def usage(self) -> StoreSize:
        """The size of this collection."""
        with self._snapshot() as database:
            (documents,) = database.execute("SELECT count(*) FROM documents").fetchone()
            pages, free, size = (
                database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
        return StoreSize(documents, (pages - free) * size)

    def characters(self) -> int:
        """Length of the text of all pages."""
        return int(self._read("SELECT coalesce(sum(length(text)), 0) FROM pages")[0][0])

    def pages(self) -> list[tuple[str, int, str]]:
        """Document, number and text of every page with text, in order."""
        rows = self._read(
            "SELECT d.name, p.number, p.text FROM pages p JOIN documents d ON d.id = p.document"
            " WHERE p.text <> ''"
        )
        return sorted(map(tuple, rows))

    def page(self, document: str, number: int) -> str | None:
        """The text of a page."""
        rows = self._read(
            "SELECT text FROM pages WHERE number = ?"
            " AND document = (SELECT id FROM documents WHERE name = ?)",
            (number, document),
        )
        return str(rows[0][0]) if rows else None

    def chunk(self, key: int) -> Chunk:
        """A chunk by its id.

        Raises:
            VersionGone: It has been removed.
        """
        rows = self._read(
            "SELECT d.name, c.page, p.text, c.text FROM chunks c"
            " JOIN documents d ON d.id = c.document"
            " JOIN pages p ON p.document = c.document AND p.number = c.page WHERE c.id = ?",
            (key,),
        )
        if not rows:
            raise VersionGone
        return Chunk(*rows[0])

    def rows(self) -> Rows:
        """The chunks to index, at one version."""
        with self._snapshot() as database:
            version = _read_meta(database, "version")
            rows = database.execute(
                "SELECT c.id, p.rowid FROM chunks c"
                " JOIN pages p ON p.document = c.document AND p.number = c.page ORDER BY c.id"
            ).fetchall()
        chunks, pages = np.array(rows, np.int64).reshape(-1, 2).T
        return Rows(version, chunks, pages)

    def texts(self, version: str) -> list[str]:
        """The texts of all chunks, in the order of their ids.

        Raises:
            VersionGone: The collection has changed.
        """
        with self._at_version(version) as database:
            rows = database.execute(f"SELECT {_SEARCHED} FROM chunks ORDER BY id").fetchall()  # noqa: S608 (a constant)
        return [row[0] for row in rows]

    def vectors(self, embedding: str, version: str) -> NDArray[np.float32]:
        """The vectors [n, d] of all chunks, in the order of their ids."""
        with self._at_version(version) as database:
            rows = database.execute(
                "SELECT v.vector FROM chunks c LEFT JOIN vectors v"
                " ON v.hash = c.hash AND v.embedding = ? ORDER BY c.id",
                (embedding,),
            ).fetchall()
        if any(row[0] is None for row in rows):  # of a document that was added and removed
            raise VersionGone
        return np.frombuffer(b"".join(row[0] for row in rows), np.float32).reshape(len(rows), -1)

    def vector_search(self, embedding: str, rows: Rows) -> "VectorSearch | None":  # noqa: ARG002
        """The store's own search for the nearest vectors of these rows; None if it has none."""
        return None

    def without_vector(self, embedding: str, document: str | None) -> list[tuple[bytes, str]]:
        """Hash and text of the chunks, of one document or of all, that are not embedded yet."""
        return self._read(
            f"SELECT hash, min({_SEARCHED}) FROM chunks c WHERE NOT EXISTS"  # noqa: S608 (a constant)
            " (SELECT 1 FROM vectors v WHERE v.hash = c.hash AND v.embedding = ?)"
            " AND (? IS NULL OR document = (SELECT id FROM documents WHERE name = ?))"
            " GROUP BY hash ORDER BY min(id)",
            (embedding, document, document),
        )

    def put_vectors(
        self, hashes: Sequence[bytes], vectors: NDArray[np.float32], embedding: str
    ) -> None:
        """Store the vectors [n, d] of some texts."""
        pairs = zip(hashes, vectors, strict=True)
        rows = [(key, embedding, self._to_database(vector)) for key, vector in pairs]
        with self._writing() as database:
            database.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows
            )

    @staticmethod
    def _to_database(vector: NDArray[np.float32]) -> Any:
        """A vector in the form of this database."""
        return vector.tobytes()

    def _create_tables(self, database: Session, embeddings: str) -> None:
        """Create the tables and the properties of a new collection."""
        for statement in _SCHEMA.format(**self._types).split(";"):
            database.execute(statement)
        values = (("version", uuid.uuid4().hex), ("embeddings", embeddings))
        database.executemany("INSERT INTO meta VALUES (?, ?)", values)

    def _read(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        with self._connect() as database:
            return list(database.execute(statement, parameters).fetchall())

    @contextmanager
    def _at_version(self, version: str) -> Iterator[Session]:
        """A snapshot that must be of this version."""
        with self._snapshot() as database:
            if _read_meta(database, "version") != version:
                raise VersionGone
            yield database

    @contextmanager
    def _new_version(self) -> Iterator[Session]:
        """A transaction that makes a new version and deletes the vectors without a chunk."""
        with self._writing() as database:
            yield database
            database.execute(
                "DELETE FROM vectors"
                " WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.hash = vectors.hash)"
            )
            version = (uuid.uuid4().hex,)
            database.execute("UPDATE meta SET value = ? WHERE key = 'version'", version)

    @contextmanager
    def _snapshot(self) -> Iterator[Session]:
        """A transaction that reads a consistent state."""
        with self._connect() as database:
            database.execute("BEGIN")
            yield database

    @contextmanager
    def _writing(self, mode: str = "rw") -> Iterator[Session]:
        """A transaction during which nobody else writes."""
        with self._connect(mode) as database, database:
            database.execute("BEGIN IMMEDIATE")
            yield database

    @contextmanager
    def _connect(self, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        """A connection for one use; its errors are reported in one sentence."""
        try:
            with closing(
                sqlite3.connect(
                    f"{self.path.absolute().as_uri()}?mode={mode}",
                    uri=True,
                    timeout=_BUSY_SECONDS,
                    isolation_level=None,
                )
            ) as database:
                database.execute("PRAGMA foreign_keys = ON")
                database.execute("PRAGMA secure_delete = ON")  # overwrites removed data
                yield database
        except sqlite3.Error as error:
            raise self._translate_error(error) from None

    def _translate_error(self, error: sqlite3.Error) -> BadInput:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        match code:
            case sqlite3.SQLITE_FULL:
                return BadInput(
                    "The disk is full; what the collection held before is unharmed.",
                    fix="Free some space and run the same command again.",
                )
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return BadInput(
                    f"The collection {self._name!r} is in use by another process.",
                    fix="Try again when that has finished.",
                )
            case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
                return StoreUnusable(
                    f"The collection {self._name!r} in {self.path.parent} cannot be opened.",
                    fix="Check that it was not deleted and that the folder can be written.",
                )
        return StoreUnusable(
            f"The collection {self._name!r} is damaged ({error}).",
            fix=f"Delete {self.path} and add the documents again.",
        )


def _hash_text(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _put_entry(database: Session, entry: Entry) -> str:
    database.execute("DELETE FROM documents WHERE source = ?", (entry.source,))
    taken = "SELECT 1 FROM documents WHERE name = ?"
    name = next(one for one in entry.names if not database.execute(taken, (one,)).fetchone())
    added = datetime.now(UTC).isoformat(timespec="seconds")
    paging = entry.document.paging
    key = database.execute(
        "INSERT INTO documents (name, source, digest, recipe, bytes, added, paging)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (name, entry.source, entry.digest, entry.recipe, entry.size, added, paging),
    ).fetchone()[0]
    _insert_pages(database, key, entry.document.pages, entry.chunks)
    return name


def _insert_pages(
    database: Session, key: int, pages: Iterable[PageText], chunks: Iterable[PageChunk]
) -> None:
    """Add the pages and chunks of the document ``key``."""
    database.executemany(
        "INSERT INTO pages (document, number, text, image_only) VALUES (?, ?, ?, ?)",
        ((key, page.number, page.text, page.image_only) for page in pages),
    )
    database.executemany(
        "INSERT INTO chunks (document, page, text, above, hash) VALUES (?, ?, ?, ?, ?)",
        ((key, *piece, _hash_text(piece.searched)) for piece in chunks),
    )


def _read_meta(database: Session, key: str) -> str:
    row = database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0])
