"""Collections: the documents of a person or project, searched by meaning and by words."""

import hashlib
import json
import os
import shutil
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, RLock
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np

from planweave import BadInput
from planweave.memory import SearchMode
from planweave.models.embeddings import embedding_id
from planweave.models.embeddings import embeddings as load_embeddings
from planweave.texts import digest
from planweave.tools.documents import chunks, urls
from planweave.tools.documents.chunks import PageChunk, chunk_page
from planweave.tools.documents.pages import (
    Document,
    PageText,
    Paging,
    Unreadable,
    check_size,
    kind_of,
)
from planweave.tools.documents.process import Cutting, Parser
from planweave.tools.documents.store import (
    DocumentInfo,
    DocumentSettings,
    Entry,
    Rows,
    Store,
    StoreSize,
    VersionGone,
    collections,
    path_of,
    settings,
)
from planweave.tools.documents.vectors import IndexHit, VectorIndex, VectorSearch, reciprocal_rank
from planweave.tools.documents.words import WordIndex
from planweave.tools.suggest import did_you_mean

WORDS_ONLY = "none"
"""The name for no embeddings; then search is by words only."""

_DEFAULT_EMBEDDINGS = "minilm"
_READER_VERSION = 2  # a new number makes added documents be read again
_BATCH = 256
_CANDIDATES = 50
_KEEP_OPEN = 8

AddFile: TypeAlias = "Callable[[Path, str, Iterable[str]], Added]"
"""Adds a file from a source, under the first free name."""
OnEmbedded: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a file, the number of its embedded new chunks, and their total."""

Loadable = TypeVar("Loadable", VectorIndex, WordIndex)


@dataclass(frozen=True, kw_only=True)
class PageHit:
    """A page that a search found.

    Attributes:
        chunk: The passage of ``text`` that fits the query best.
        score: The higher the better; comparable within one search.
    """

    document: str
    page: int
    text: str
    chunk: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Added:
    """The outcome of adding a file.

    Attributes:
        status: "unchanged" if the same content was there; "skipped" for a file of an unknown kind
            in a folder; "failed" for a file that cannot be read, with the reason in ``problem``.
        embedded: How many new chunks were embedded.
        image_pages: Pages that hold images and no text.
        paging: What a page is.
        problem: One sentence.
    """

    document: str
    status: Literal["added", "changed", "unchanged", "skipped", "failed"]
    pages: int = 0
    chunks: int = 0
    embedded: int = 0
    image_pages: tuple[int, ...] = ()
    paging: Paging = "pages"
    problem: str = ""


_open: "OrderedDict[tuple[str, str], Collection]" = OrderedDict()
_lock = Lock()
_embedding_lock = Lock()
"""Allows one batch at a time: the embedding model takes every core that questions need, too."""


def open_collection(
    name: str, *, embeddings: str | None = None, create: bool = False
) -> "Collection":
    """Open a collection, or return the one that is already open.

    Args:
        name: Such as ``energy``, or ``alice/energy`` for one that belongs to alice.
        embeddings: Name of an embedding model, or ``none`` to search by words only; by default
            the last one used with the collection, ``minilm`` for a new one.
        create: Whether to create a missing collection.

    Raises:
        BadInput: There is no such collection, or the name is invalid.
        ModelUnavailable: The embedding model of a new collection is not available.
    """
    store = _store(name)
    if create and not store.exists():
        model = embeddings or _DEFAULT_EMBEDDINGS
        if model != WORDS_ONLY:
            load_embeddings(model)  # an unavailable model fails before the collection is stored
        store.create(model)
    _check_exists(store, name)
    model = embeddings or store.meta("embeddings")
    with _lock:
        collection = _open.pop((store.place, model), None) or Collection(name, store, model)
        _open[store.place, model] = collection
        while len(_open) > _KEEP_OPEN:
            _open.popitem(last=False)
    return collection


def usage(owner: str) -> StoreSize:
    """The size of an owner's collections; an empty collection counts as one document."""
    sizes = [_store(name).usage() for name in collections(owner)]
    return StoreSize(sum(max(1, one.documents) for one in sizes), sum(one.bytes for one in sizes))


def delete_collection(name: str) -> None:
    """Delete a collection with everything in it."""
    store = _store(name)
    _check_exists(store, name)
    store.delete()
    shutil.rmtree(store.cache, ignore_errors=True)
    with _lock:
        for key in [key for key in _open if key[0] == store.place]:
            del _open[key]


def _store(name: str) -> Store:
    """The store of the collection ``name``: a file, or the shared database."""
    path = path_of(name)
    if url := settings().documents_url:
        from planweave.tools.documents.shared_store import SharedStore

        return SharedStore(url, path, name)
    return Store(path, name)


def _check_exists(store: Store, name: str) -> None:
    if store.exists():
        return
    raise BadInput(
        f"There is no document collection {name!r}{did_you_mean(name, collections())}",
        fix=f"Make it by adding a document: planweave docs add FILE --collection {name}",
    )


class Collection:
    """Documents that are searched together; safe for threads and processes at once."""

    def __init__(self, name: str, store: Store, embeddings: str) -> None:
        self.name = name
        self._store = store
        self._embeddings = embeddings
        self._index: _Index | None = None
        self._lock = Lock()

    def add(
        self,
        source: str | Path,
        *,
        original: Path | None = None,
        progress: OnEmbedded | None = None,
    ) -> list[Added]:
        """As :meth:`adding`, with all outcomes at once."""
        return list(self.adding(source, original=original, progress=progress))

    def adding(
        self,
        source: str | Path,
        *,
        original: Path | None = None,
        progress: OnEmbedded | None = None,
    ) -> Iterator[Added]:
        """Add documents one by one, while the caller iterates.

        An unchanged document is only read once. Of a changed document only the new chunks are
        embedded.

        Args:
            source: A file, a folder (with its subfolders) or an ``https://`` URL.
            original: The original place of a file that is a copy; a later file from there
                replaces it.
            progress: Called while chunks are embedded.

        Raises:
            BadInput: The source cannot be read. An unreadable file in a folder raises no error;
                its outcome is "failed", and the others are still added.
            ModelUnavailable: There is no such embedding model, or it cannot be reached.
        """
        with Parser() as parser:
            put = partial(self._put, parser=parser, progress=progress)
            if urls.is_url(source):
                yield _add_url(str(source), put)
                return
            path = Path(source).expanduser()
            if not path.is_dir():
                yield _add_file(path, original or path, put)
                return
            for file in _walk_files(path):
                name = file.relative_to(path).as_posix()
                if kind_of(file) is None:
                    yield Added(document=name, status="skipped", problem="This kind is not read.")
                    continue
                try:
                    yield _add_file(file, file, put)
                except BadInput as error:
                    yield Added(document=name, status="failed", problem=str(error))

    def add_texts(
        self, documents: Mapping[str, Sequence[str]], *, progress: OnEmbedded | None = None
    ) -> None:
        """Add documents, by name, as the texts of their pages.

        Existing documents stay unchanged, so that a stopped run can continue. ``progress`` is also
        called for the stored documents; when it is called for embedded chunks, the name is empty.

        Raises:
            BadInput: A document of that name has other contents.
            ModelUnavailable: There is no such embedding model, or it cannot be reached.
        """
        there = {info.name: info.digest for info in self._store.documents()}
        choices = settings()
        made = [self._text_entry(*one, there, choices) for one in documents.items()]
        new = [entry for entry in made if entry]
        for start in range(0, len(new), _BATCH):
            names = self._store.put(new[start : start + _BATCH])
            if progress:
                progress(names[-1], start + len(names), len(new))
        _embed_missing(self._store, self._embeddings, progress=progress)
        self._store.set_meta("embeddings", self._embeddings)

    def _text_entry(
        self, name: str, texts: Sequence[str], there: Mapping[str, str], choices: DocumentSettings
    ) -> Entry | None:
        """A document of texts to store; None if it is ``there``."""
        recipe = _recipe(choices)
        content = json.dumps([name, *texts, recipe]).encode()
        digest = hashlib.sha256(content).hexdigest()
        if name not in there:
            pages = [PageText(number, text) for number, text in enumerate(texts, start=1)]
            document, chunks = Document(name, pages, "parts"), _chunk_pages(pages, choices)
            return Entry(document, chunks, f"text:{name}", [name], digest, recipe, len(content))
        if there[name] != digest:
            raise BadInput(
                f"The collection {self.name!r} has another document {name!r}.",
                fix="Choose another collection, or remove that document first.",
            )
        return None

    def remove(self, *documents: str) -> None:
        """Remove documents."""
        known = {info.name for info in self.documents()}
        if unknown := [name for name in documents if name not in known]:
            raise self._no_document_error(unknown[0])
        self._store.remove(documents)
        shutil.rmtree(self._store.cache, ignore_errors=True)

    def documents(self) -> list[DocumentInfo]:
        """The documents, by name."""
        return self._store.documents()

    def characters(self) -> int:
        """Length of the text of all pages."""
        return self._store.characters()

    def all_pages(self) -> list[tuple[str, int, str]]:
        """Document, number and text of every page with text, in order."""
        return self._store.pages()

    def page(self, document: str, number: int) -> str:
        """The text of a page, numbered from 1."""
        text = self._store.page(document, number)
        if text is None:
            known = {info.name: info for info in self.documents()}
            if document not in known:
                raise self._no_document_error(document)
            pages = known[document].pages
            last = "page 1 only" if pages == 1 else f"pages 1 to {pages}"
            raise BadInput(f"{document} has no page {number}; it has {last}.")
        return text

    def search(self, query: str, *, k: int = 4, mode: SearchMode = "fused") -> list[PageHit]:
        """Find the pages whose passages fit a query best (parent document retrieval).

        Args:
            query: A question, or words.
            k: Pages at most.
            mode: By meaning ("dense"), by words ("bm25"), or by both, fused by reciprocal rank;
                without embeddings "fused" searches by words only.

        Returns:
            Distinct pages, best first; fewer than ``k`` if no more match.

        Raises:
            BadInput: The collection holds no text, or the query is empty.
            ModelUnavailable: The embedding model is not available.
        """
        if not query.strip():
            raise BadInput("The query is empty.", fix="Say what to look for.")
        while True:
            with suppress(VersionGone):  # another thread or process has changed the collection
                return self._search(query, k, mode)

    def _search(self, query: str, k: int, mode: SearchMode) -> list[PageHit]:
        index = self._current_index()
        if not len(index.rows.chunks):
            raise BadInput(
                f"The document collection {self.name!r} holds no text to search.",
                fix=f"Add documents: planweave docs add FILE --collection {self.name}",
            )
        best = _best_of_pages(index.search(query, max(_CANDIDATES, 10 * k), mode), index.rows)
        return [
            PageHit(**self._store.chunk(int(index.rows.chunks[row]))._asdict(), score=score)
            for row, score in best[:k]
        ]

    def _current_index(self) -> "_Index":
        with self._lock:
            if self._index is None or self._index.rows.version != self._store.meta("version"):
                self._index = _Index(self._store, self._embeddings)
            return self._index

    def _put(
        self,
        path: Path,
        source: str,
        names: Iterable[str],
        parser: Parser,
        progress: OnEmbedded | None,
    ) -> Added:
        choices = settings()
        digest = _file_digest(path)
        recipe = _recipe(choices)
        known = self._store.known(source, digest)
        if known and (known.digest, known.recipe) == (digest, recipe):
            return self._finish_adding(known.name, "unchanged", progress)
        cutting = Cutting(chunks.tokenizer().path, choices.chunk_tokens, choices.chunk_overlap)
        parsed = parser.read(path, choices.limits(), cutting)
        entry = Entry(
            parsed.document,
            parsed.chunks,
            source=known.source if known else source,
            names=chain([known.name] if known else [], names),
            digest=digest,
            recipe=recipe,
            size=path.stat().st_size,
        )
        (name,) = self._store.put([entry])
        del parsed, entry  # frees memory during the long embedding
        return self._finish_adding(name, "changed" if known else "added", progress)

    def _finish_adding(
        self,
        name: str,
        status: Literal["added", "changed", "unchanged"],
        progress: OnEmbedded | None,
    ) -> Added:
        embedded = _embed_missing(self._store, self._embeddings, name, progress)
        self._store.set_meta("embeddings", self._embeddings)
        info = next(iter(self._store.documents(name)), None)
        if info is None:
            raise self._no_document_error(name)  # another process has removed it meanwhile
        return Added(
            document=name,
            status=status,
            pages=info.pages,
            chunks=info.chunks,
            embedded=embedded,
            image_pages=info.image_pages,
            paging=info.paging,
        )

    def _no_document_error(self, name: str) -> BadInput:
        names = [info.name for info in self.documents()]
        return BadInput(
            f"The collection {self.name!r} has no document {name!r}{did_you_mean(name, names)}",
            fix=f"List them: planweave docs list --collection {self.name}",
        )


class _Index:
    """The collection at one version; its indexes are loaded or built when first used."""

    def __init__(self, store: Store, embeddings: str) -> None:
        self.rows = store.rows()
        self._store = store
        self._embeddings = embeddings
        self._lock = RLock()
        self._vectors: VectorSearch | None = None
        self._words: WordIndex | None = None

    def search(self, query: str, k: int, mode: SearchMode) -> list[IndexHit]:
        """Rows of chunks with their scores, best first."""
        if mode == "bm25" or (mode == "fused" and self._embeddings == WORDS_ONLY):
            return self._by_words(query, k)
        if self._embeddings == WORDS_ONLY:
            raise BadInput(
                "This collection has no embeddings, so it cannot be searched by meaning.",
                fix="Search with bm25, or add the documents again with --embeddings minilm.",
            )
        by_meaning = self._by_meaning(query, k)
        if mode == "dense":
            return by_meaning
        rankings = [
            [row for row, _ in ranking] for ranking in (by_meaning, self._by_words(query, k))
        ]
        return reciprocal_rank(rankings)

    def _by_meaning(self, query: str, k: int) -> list[IndexHit]:
        vector = np.array(load_embeddings(self._embeddings).embed_query(query), np.float32)
        with self._lock:
            if self._vectors is None:
                self._vectors = self._load_vectors()
        return self._vectors(vector, k)

    def _by_words(self, query: str, k: int) -> list[IndexHit]:
        with self._lock:
            if self._words is None:
                self._words = self._load_or_build(
                    "words",
                    WordIndex.load,
                    lambda: WordIndex.build(self._store.texts(self.rows.version)),
                )
        return self._words.search(query, k)

    def _load_vectors(self) -> VectorSearch:
        _embed_missing(self._store, self._embeddings)
        key = embedding_id(self._embeddings)
        if search := self._store.vector_search(key, self.rows):
            return search
        index = self._load_or_build(
            f"vectors-{digest(key)}.faiss",
            VectorIndex.load,
            lambda: VectorIndex.build(self._store.vectors(key, self.rows.version)),
        )
        return index.search

    def _load_or_build(
        self, name: str, load: Callable[[Path], Loadable], build: Callable[[], Loadable]
    ) -> Loadable:
        """Load what an earlier process has saved, or build it and save it for the next one."""
        folder = self._store.cache
        path = folder / self.rows.version / name
        if path.exists():
            with suppress(Exception):  # a damaged file raises any error of the library
                return load(path)
        index = build()
        with suppress(OSError, RuntimeError):  # only a cache: a full disk costs nothing but time
            _save_whole(path, index.save)
            for old in folder.iterdir():
                if old.name != self.rows.version:
                    shutil.rmtree(old, ignore_errors=True)
        return index


def _add_url(url: str, put: AddFile) -> Added:
    """Add the document at a URL."""
    limits, private = settings().limits(), settings().private_urls
    with TemporaryDirectory(prefix="planweave-") as folder:
        path = urls.fetch(url, Path(folder), max_bytes=limits.bytes, private=private)
        place = urlsplit(url)
        parts = [part for part in unquote(place.path).split("/") if part]
        return put(path, url, _possible_names([place.hostname or "", *parts[:-1], path.name]))


def _add_file(path: Path, original: Path, put: AddFile) -> Added:
    """Add a file."""
    check_size(path, settings().limits())
    full = original.resolve()
    return put(path, str(full), _possible_names(full.parts[1:]))


def _save_whole(path: Path, save: Callable[[Path], None]) -> None:
    """Save under another name first, so that no process loads half an index."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f"{uuid.uuid4().hex}.{path.name}")
    try:
        save(part)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        part.replace(path)
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        part.unlink(missing_ok=True)


def _embed_missing(
    store: Store, model: str, document: str | None = None, progress: OnEmbedded | None = None
) -> int:
    """Make the missing vectors of a document or of the whole collection; returns their number.

    Each batch is stored at once, so that a killed process loses only the last one.
    """
    if model == WORDS_ONLY:
        return 0
    key = embedding_id(model)
    todo = store.without_vector(key, document)
    for start in range(0, len(todo), _BATCH):
        batch = todo[start : start + _BATCH]
        with _embedding_lock if model == _DEFAULT_EMBEDDINGS else nullcontext():
            vectors = load_embeddings(model).embed_documents([text for _, text in batch])
        store.put_vectors([digest for digest, _ in batch], np.array(vectors, np.float32), key)
        if progress:
            progress(document or "", start + len(batch), len(todo))
    return len(todo)


def _best_of_pages(hits: Sequence[IndexHit], rows: Rows) -> list[IndexHit]:
    """The best hit of each page, in the order of the hits."""
    best: dict[int, IndexHit] = {}
    for row, score in hits:
        best.setdefault(int(rows.pages[row]), (row, score))
    return list(best.values())


def _walk_files(folder: Path) -> Iterator[Path]:
    """The files of a folder and its subfolders, without hidden files and links to elsewhere."""
    home = folder.resolve()
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(place, name)
            if not name.startswith(".") and path.resolve().is_relative_to(home):
                yield path


def _recipe(choices: DocumentSettings) -> str:
    return f"{_READER_VERSION} {choices.chunk_tokens} {choices.chunk_overlap}"


def _chunk_pages(pages: Iterable[PageText], choices: DocumentSettings) -> list[PageChunk]:
    """The chunks of all pages."""
    size, overlap = choices.chunk_tokens, choices.chunk_overlap
    return [
        piece
        for page in pages
        for piece in chunk_page(page.number, page.text, size=size, overlap=overlap)
    ]


def _possible_names(parts: Sequence[str]) -> Iterator[str]:
    """Possible names of a document: the file name, then with more and more of its folders."""
    for place in range(len(parts) - 1, -1, -1):
        yield "/".join(parts[place:])
    yield from (f"{parts[-1]} ({number})" for number in count(2))


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror}).") from None
