"""Search by meaning (nearest vectors, with an HNSW graph if they are many), and rank fusion."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import faiss

HNSW_ABOVE = 100_000
"""Vectors beyond which the graph is used."""

_LINKS = 32
_CANDIDATES_BUILDING = 80
_CANDIDATES = 128  # for each question; more find more of the nearest and take longer


IndexHit: TypeAlias = tuple[int, float]
"""The number of an indexed item, and its score: the higher the better."""

VectorSearch: TypeAlias = Callable[[NDArray[np.float32], int], list[IndexHit]]
"""Finds the k vectors nearest to a vector [d], best first."""


class VectorIndex:
    """Vectors of unit length, searched by inner product, which is then the cosine."""

    def __init__(self, index: "faiss.Index") -> None:
        self._index = index

    @classmethod
    def build(cls, vectors: NDArray[np.float32], *, hnsw_above: int = HNSW_ABOVE) -> "VectorIndex":
        """Index ``vectors`` [n, d] of unit length; their row numbers are their numbers.

        More than ``hnsw_above`` vectors are searched with a graph of neighbours (HNSW, Malkov &
        Yashunin 2018) instead of one by one: nearly as good, and much faster.
        """
        import faiss

        count, size = vectors.shape
        index: faiss.Index = faiss.IndexFlatIP(size)
        if count > hnsw_above:
            index = graph = faiss.IndexHNSWFlat(size, _LINKS, faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction = _CANDIDATES_BUILDING
            graph.hnsw.efSearch = _CANDIDATES
        index.add(np.ascontiguousarray(vectors, np.float32))
        return cls(index)

    def search(self, query: NDArray[np.float32], k: int) -> list[IndexHit]:
        """The ``k`` nearest vectors, or all if they are fewer, best first."""
        with _one_thread():
            scores, rows = self._index.search(np.ascontiguousarray(query[None], np.float32), k)
        found = zip(rows[0].tolist(), scores[0].tolist(), strict=True)
        return [(row, score) for row, score in found if row >= 0]

    def save(self, path: Path) -> None:
        """Write the index into one file.

        Raises:
            RuntimeError: It cannot be written.
        """
        import faiss

        faiss.write_index(self._index, str(path))

    @classmethod
    def load(cls, path: Path) -> "VectorIndex":
        """Read what :meth:`save` wrote; a damaged file raises any error of the library."""
        import faiss

        return cls(faiss.read_index(str(path)))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit faiss to this thread.

    Its other threads wait for one another in busy loops; on a busy machine that makes a query a
    hundred times slower.
    """
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def reciprocal_rank(rankings: Sequence[Sequence[int]], *, k: int = 60) -> list[tuple[int, float]]:
    """Fuse rankings by reciprocal rank (Cormack, Clarke & Büttcher 2009, section 2).

    Args:
        rankings: The items found by each search, best first.
        k: Reduces the weight of the first ranks; 60 in the paper.

    Returns:
        All items with the sum of 1 / (k + rank), highest first; equal items in order of appearance.
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda scored: -scored[1])
