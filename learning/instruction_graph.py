"""The instruction graph: past paths, joined where their instructions are similar.

InstructRAG (arXiv 2504.13032), section 4.2 and Algorithm 1. A node is a set of similar
instructions, a junction at which paths can be recombined; an edge is a set of tasks, each with
the questions whose paths used it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from planweave import BadInput
from planweave.learning.paths import TaskPath
from planweave.learning.vectors import Embed, Floats

if TYPE_CHECKING:
    import faiss

Edge: TypeAlias = tuple[int, int]
"""From a node to a node; never to itself."""

THRESHOLD = 0.4
"""The paper's least cosine of instructions that share a node."""

_ROUNDING = 1e-6  # a computed cosine of 1 may be a little smaller
_LINKS, _BUILDING, _SEARCHING = 16, 80, 128  # HNSW: links, and candidates looked at


class _Neighbour(NamedTuple):
    """An instruction near a vector: its row, and the cosine of the two."""

    instruction: str
    row: int
    cosine: float


class InstructionGraph:
    """Paths of instructions as a graph; not safe for threads.

    HNSW (Malkov & Yashunin 2018) finds neighbours, as in the paper: nearly always the nearest, in
    nearly constant time. An instruction joins the node of its nearest neighbour if their cosine is
    at least ``threshold``, the paper's delta.
    """

    def __init__(self, embed: Embed, threshold: float = THRESHOLD) -> None:
        if not 0 <= threshold <= 1:
            raise BadInput(f"The threshold {threshold} of a graph is not between 0 and 1.")
        self.threshold = threshold
        self._embed = embed
        self._paths: dict[str, TaskPath] = {}
        self._walks: dict[str, tuple[int, ...]] = {}
        self._nodes: dict[int, list[str]] = {}
        self._edges: dict[Edge, dict[str, set[str]]] = {}
        self._after: dict[int, dict[int, None]] = {}
        self._index = _Index()

    @classmethod
    def of(
        cls, paths: Iterable[TaskPath], embed: Embed, threshold: float = THRESHOLD
    ) -> "InstructionGraph":
        """The graph of ``paths``, inserted in order."""
        graph = cls(embed, threshold)
        graph.insert_all(paths)
        return graph

    @property
    def paths(self) -> list[TaskPath]:
        """The inserted paths, in order."""
        return list(self._paths.values())

    @property
    def nodes(self) -> Mapping[int, Sequence[str]]:
        """The distinct instructions of each node."""
        return self._nodes

    @property
    def edges(self) -> Mapping[Edge, Mapping[str, set[str]]]:
        """The tasks of each edge, each with the questions whose paths used it."""
        return self._edges

    def successors(self, node: int) -> list[int]:
        """The nodes that an edge leads to, the oldest edge first."""
        return list(self._after.get(node, ()))

    def walk(self, key: str) -> tuple[int, ...]:
        """The node of each instruction of a path."""
        return self._walks[key]

    def insert_all(self, paths: Iterable[TaskPath]) -> list[tuple[int, ...]]:
        """Insert paths in order and return their walks; new texts are embedded at once."""
        paths = list(paths)
        texts = dict.fromkeys(
            text
            for path in paths
            if path.key not in self._paths
            for text in path.instructions
            if self._index.vector(text) is None
        )
        vectors = dict(zip(texts, self._embed(list(texts)), strict=True)) if texts else {}
        for path in paths:
            if path.key not in self._paths:
                self._insert(path, vectors)
        return [self._walks[path.key] for path in paths]

    def _insert(self, path: TaskPath, vectors: Mapping[str, Floats]) -> None:
        """Algorithm 1 for one path; its first lines, which seed two nodes, need no special case."""
        walk: list[int] = []
        for text in path.instructions:
            last = walk[-1] if walk else None
            node = self._node_for(text, vectors, last)
            self._add_to_node(text, node, vectors)
            walk.append(node)
        self._add_path(path, tuple(walk))

    def _node_for(self, text: str, vectors: Mapping[str, Floats], last: int | None) -> int:
        """The node of the nearest instruction outside ``last``, or a new one if none is near.

        If several nodes have the nearest instruction, the oldest one.
        """
        if same := self._index.holders(text, last):
            return min(same)
        near = self._index.nearest_outside(self._vector(text, vectors), last)
        if near is None or near.cosine < self.threshold - _ROUNDING:
            return len(self._nodes)
        return min(self._index.holders(near.instruction, last))

    def _vector(self, text: str, vectors: Mapping[str, Floats]) -> Floats:
        known = self._index.vector(text)
        return vectors[text] if known is None else known

    def _add_to_node(self, text: str, node: int, vectors: Mapping[str, Floats]) -> None:
        held = self._nodes.setdefault(node, [])
        if text not in held:
            held.append(text)
            self._index.add(text, node, self._vector(text, vectors))

    def _add_path(self, path: TaskPath, walk: tuple[int, ...]) -> None:
        self._paths[path.key], self._walks[path.key] = path, walk
        for edge in pairwise(walk):
            self._edges.setdefault(edge, {}).setdefault(path.task, set()).add(path.question)
            self._after.setdefault(edge[0], {})[edge[1]] = None


class _Index:
    """The vectors of instructions with their nodes, each pair in a row of HNSW."""

    def __init__(self) -> None:
        self._hnsw: faiss.IndexHNSWFlat | None = None
        self._rows: list[tuple[str, int]] = []
        self._row_of: dict[str, dict[int, int]] = {}  # text → node → row

    def vector(self, text: str) -> Floats | None:
        row = next(iter(self._row_of.get(text, {}).values()), None)
        if row is None or self._hnsw is None:
            return None
        return np.asarray(self._hnsw.reconstruct(row), np.float32)

    def holders(self, text: str, excluded: int | None) -> list[int]:
        return [node for node in self._row_of.get(text, ()) if node != excluded]

    def add(self, text: str, node: int, vector: Floats) -> None:
        """Add one vector at a time, so that the graph of neighbours is the same in every run."""
        import faiss

        if self._hnsw is None:
            self._hnsw = faiss.IndexHNSWFlat(len(vector), _LINKS, faiss.METRIC_INNER_PRODUCT)
            self._hnsw.hnsw.efConstruction = _BUILDING
        self._hnsw.add(vector[None])
        self._row_of.setdefault(text, {})[node] = len(self._rows)
        self._rows.append((text, node))

    def nearest_outside(self, vector: Floats, node: int | None) -> _Neighbour | None:
        """The nearest instruction outside ``node``."""
        import faiss

        if self._hnsw is None:
            return None
        for k in (16, 256):  # nearly always the first is enough
            depth = faiss.SearchParametersHNSW(  # type: ignore[attr-defined]  # its stubs lag behind
                efSearch=max(_SEARCHING, 2 * k)
            )
            found = self._to_neighbours(*self._hnsw.search(vector[None], k, params=depth))
            outside = (near for near in found if self._rows[near.row][1] != node)
            if (near := next(outside, None)) is not None:
                return near
        # All neighbours found are in the node: compare with every other row.
        inside = [row for row, (_, holder) in enumerate(self._rows) if holder == node]
        others = faiss.IDSelectorNot(faiss.IDSelectorBatch(np.array(inside, np.int64)))
        flat = faiss.downcast_index(self._hnsw.storage)
        params = faiss.SearchParameters(sel=others)  # type: ignore[call-arg]
        return next(iter(self._to_neighbours(*flat.search(vector[None], 1, params=params))), None)

    def _to_neighbours(self, cosines: Floats, rows: NDArray[np.int64]) -> list[_Neighbour]:
        pairs = zip(cosines[0].tolist(), rows[0].tolist(), strict=True)
        return [_Neighbour(self._rows[row][0], row, cosine) for cosine, row in pairs if row >= 0]
