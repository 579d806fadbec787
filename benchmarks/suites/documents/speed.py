"""How long documents take: a report indexed, and indexes of growing size searched."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from planweave.benchmarks.core.metrics import Spread, spread
from planweave.tools.documents.collection import delete_collection, open_collection
from planweave.tools.documents.vectors import Hits, VectorIndex
from planweave.tools.documents.words import WordIndex

Index = TypeVar("Index")
Query = TypeVar("Query")

_NEAREST = 10
_DIMENSIONS, _LATENT, _IN_CLUSTER = 384, 48, 100
_WORDS_IN_TEXT = 60


@dataclass(frozen=True, kw_only=True)
class Indexing:
    """A document added to a new collection until the first search is answered.

    Attributes:
        embeddings: Name of the embedding model; none: by words alone.
        run: "first", or "again" in the same process with nothing changed.
        pages: Of the document.
        chunks: Of the document.
        embedded: Chunks that were embedded.
        add_seconds: To read, cut, embed and store it.
        search_seconds: The first search, which builds the index.
        cpu_seconds: Both, over all threads.
    """

    embeddings: str
    run: str
    pages: int
    chunks: int
    embedded: int
    add_seconds: float
    search_seconds: float
    cpu_seconds: float


@dataclass(frozen=True, kw_only=True)
class Speed:
    """One kind of index at one size.

    Attributes:
        index: "exact", "hnsw" or "words".
        size: Vectors or texts.
        build_seconds: To build it.
        build_cpu_seconds: The same over all threads.
        load_seconds: To read it from disk.
        megabytes: On disk, which is about what it takes in memory.
        search_ms: One query by itself.
        search_cpu_ms: The same over all threads, mean: what a busy machine does not change.
        recall: Share of the ten nearest that it finds; None where that is not a question.
    """

    index: str
    size: int
    build_seconds: float
    build_cpu_seconds: float
    load_seconds: float
    megabytes: float
    search_ms: Spread
    search_cpu_ms: float
    recall: float | None


def indexing(document: Path, query: str, embeddings: Sequence[str]) -> Iterator[Indexing]:
    """Add ``document`` to a new collection twice, with each of ``embeddings``."""
    for model in embeddings:
        name = f"benchmark/{uuid4().hex}"
        collection = open_collection(name, embeddings=model, create=True)
        try:
            for run in ("first", "again"):
                start, cpu = time.perf_counter(), time.process_time()
                (added,) = collection.add(document)
                ready = time.perf_counter()
                collection.search(query)
                yield Indexing(
                    embeddings=model,
                    run=run,
                    pages=added.pages,
                    chunks=added.chunks,
                    embedded=added.embedded,
                    add_seconds=ready - start,
                    search_seconds=time.perf_counter() - ready,
                    cpu_seconds=time.process_time() - cpu,
                )
        finally:
            delete_collection(name)


def vector_speeds(size: int, queries: int, seed: int) -> Iterator[Speed]:
    """Exact search and the graph over the same ``size`` synthetic vectors."""
    made = clustered(size + queries, seed)
    vectors, asked = made[:size], made[size:]
    truth = VectorIndex.build(vectors, hnsw_above=size).search(asked, _NEAREST).rows
    for kind, above in (("exact", size), ("hnsw", 0)):

        def build(above: int = above) -> VectorIndex:
            return VectorIndex.build(vectors, hnsw_above=above)

        index, taken = _timed(build)
        found, search = _asked(lambda row: index.search(row[None], _NEAREST), asked)  # noqa: B023
        megabytes, load = _kept(index.save, VectorIndex.load)
        yield Speed(
            index=kind,
            size=size,
            build_seconds=taken[0],
            build_cpu_seconds=taken[1],
            load_seconds=load,
            megabytes=megabytes,
            search_ms=search[0],
            search_cpu_ms=search[1],
            recall=shared(truth, np.concatenate([hits.rows for hits in found])),
        )


def word_speed(texts: Sequence[str], size: int, queries: int, seed: int) -> Speed:
    """BM25 over ``size`` texts of words drawn, as often as they occur, from ``texts``."""
    pool = np.array(" ".join(texts).split(), dtype=object)
    draw = np.random.default_rng(seed)
    made = [" ".join(draw.choice(pool, _WORDS_IN_TEXT)) for _ in range(size)]
    asked = [" ".join(draw.choice(pool, 12)) for _ in range(queries)]
    WordIndex.build(made[:1])  # the library is imported before the clock starts
    index, taken = _timed(lambda: WordIndex.build(made))
    _, search = _asked(lambda query: index.search([query], _NEAREST), asked)
    megabytes, load = _kept(index.save, WordIndex.load)
    return Speed(
        index="words",
        size=size,
        build_seconds=taken[0],
        build_cpu_seconds=taken[1],
        load_seconds=load,
        megabytes=megabytes,
        search_ms=search[0],
        search_cpu_ms=search[1],
        recall=None,
    )


def clustered(count: int, seed: int) -> NDArray[np.float32]:
    """Vectors [count, 384] of unit length in clusters of about a hundred.

    Centres and what lies around them are normal in 48 dimensions, turned into 384: embeddings of
    real texts too vary in far fewer directions than they have numbers.
    """
    draw = np.random.default_rng(seed)
    turn = draw.normal(size=(_LATENT, _DIMENSIONS)).astype(np.float32)
    centres = draw.normal(size=(max(1, count // _IN_CLUSTER), _LATENT)).astype(np.float32)
    made = np.empty((count, _DIMENSIONS), np.float32)
    for start in range(0, count, 50_000):
        part = made[start : start + 50_000]
        near = centres[draw.integers(len(centres), size=len(part))]
        part[:] = (near + draw.normal(size=near.shape).astype(np.float32)) @ turn
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return made


def shared(truth: NDArray[np.int64], found: NDArray[np.int64]) -> float:
    """Mean share of each row of ``truth`` that is in the same row of ``found``."""
    parts = [len(set(a) & set(b)) / len(a) for a, b in zip(truth, found, strict=True)]
    return float(np.mean(parts))


def _timed(build: Callable[[], Index]) -> tuple[Index, tuple[float, float]]:
    start, cpu = time.perf_counter(), time.process_time()
    index = build()
    return index, (time.perf_counter() - start, time.process_time() - cpu)


def _kept(save: Callable[[Path], None], load: Callable[[Path], object]) -> tuple[float, float]:
    """Megabytes on disk, and seconds to load."""
    with TemporaryDirectory(prefix="planweave-") as folder:
        path = Path(folder, "index")
        save(path)
        files = [path] if path.is_file() else list(path.iterdir())
        start = time.perf_counter()
        load(path)
        return sum(file.stat().st_size for file in files) / 1e6, time.perf_counter() - start


def _asked(
    search: Callable[[Query], Hits], queries: Iterable[Query]
) -> tuple[list[Hits], tuple[Spread, float]]:
    """Ask one query after the other: what was found, milliseconds, and CPU milliseconds each."""
    found, times, cpu = [], [], time.process_time()
    for query in queries:
        start = time.perf_counter()
        found.append(search(query))
        times.append((time.perf_counter() - start) * 1e3)
    spent = spread(times)
    assert spent is not None  # noqa: S101 (there is at least one query)
    return found, (spent, (time.process_time() - cpu) * 1e3 / len(found))
