"""The instruction graph: past paths, joined where their instructions are alike.

InstructRAG (arXiv 2504.13032), section 4.2 and Algorithm 1. A node is a set of similar
instructions, a junction at which paths can be recombined; an edge is a set of tasks, each with
the questions whose paths used it.
"""

import pathlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from planweave import BadInput
from planweave.learning import instruction_graph_file
from planweave.learning.paths import TaskPath
from planweave.learning.vectors import Embed, Floats

if TYPE_CHECKING:
    import faiss

Edge: TypeAlias = tuple[int, int]
"""From a node to a node; never to itself."""

THRESHOLD = 0.4
"""The paper's choice of the cosine from which instructions share a node."""

_ROUNDING = 1e-6  # a cosine of one comes out a little smaller
_LINKS, _BUILDING, _SEARCHING = 16, 80, 128  # HNSW: links, and candidates looked at


class Neighbour(NamedTuple):
    """An instruction near a text: the node that holds it, and the cosine of the two."""

    instruction: str
    node: int
    cosine: float


class InstructionGraph:
    """Paths of instructions as a graph; not for several threads at once.

    Neighbours are found by HNSW (Malkov & Yashunin 2018), as in the paper: nearly always the
    nearest, in time that hardly grows.

    Args:
        embed: The frozen model of sentence vectors.
        threshold: The paper's delta: an instruction joins the node of its nearest neighbour if
            their cosine is at least that.

    Raises:
        BadInput: The threshold is not between 0 and 1.
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
        self._uses: Counter[tuple[int, str] | tuple[Edge, str, str]] = Counter()
        self._new_node = 0
        self._index = _Index()

    @property
    def paths(self) -> list[TaskPath]:
        """What was inserted, in order, and is still there."""
        return list(self._paths.values())

    @property
    def nodes(self) -> Mapping[int, Sequence[str]]:
        """The different instructions of each node."""
        return self._nodes

    @property
    def edges(self) -> Mapping[Edge, Mapping[str, set[str]]]:
        """The tasks of each edge, each with the questions whose paths used it."""
        return self._edges

    def successors(self, node: int) -> list[int]:
        """The nodes that an edge leads to, the oldest edge first."""
        return list(self._after.get(node, ()))

    def walk(self, key: str) -> tuple[int, ...]:
        """The node of each instruction of a path.

        Raises:
            KeyError: No path has that key.
        """
        return self._walks[key]

    def vector(self, text: str) -> Floats:
        """The vector [d] of an instruction or of any other text."""
        row = self._index.row(text)
        return self._embed([text])[0] if row is None else self._index.vector(row)

    def nearest(self, text: str, k: int) -> list[Neighbour]:
        """The ``k`` instructions nearest to a text, best first, or all if there are fewer.

        An instruction that two nodes hold is found twice.
        """
        return self._index.nearest(self.vector(text), k)

    def insert(self, path: TaskPath) -> tuple[int, ...]:
        """Insert a path and return its walk; a path that is there already stays as it is."""
        return self.insert_all([path])[0]

    def insert_all(self, paths: Iterable[TaskPath]) -> list[tuple[int, ...]]:
        """Insert paths in order and return their walks; new texts are embedded at once."""
        paths = list(paths)
        texts = dict.fromkeys(
            text
            for path in paths
            if path.key not in self._paths
            for text in path.instructions
            if self._index.row(text) is None
        )
        vectors = dict(zip(texts, self._embed(list(texts)), strict=True)) if texts else {}
        for path in paths:
            if path.key not in self._paths:
                self._insert(path, vectors)
        return [self._walks[path.key] for path in paths]

    def remove(self, key: str) -> None:
        """Remove a path, and what only it held: instructions, questions, tasks, edges, nodes.

        All other paths keep their walks. The graph is as if the path had never been inserted if
        no other was inserted since; one that was may be in a node to which the removed path
        brought it, so to forget that too, build the graph again from :attr:`paths`.

        Raises:
            KeyError: No path has that key.
        """
        path, walk = self._paths.pop(key), self._walks.pop(key)
        for text, node in zip(path.instructions, walk, strict=True):
            if self._used_no_more((node, text)):
                self._index.remove(text, node)
                self._nodes[node].remove(text)
        for edge in pairwise(walk):
            if self._used_no_more((edge, path.task, path.question)):
                self._drop_question(edge, path)
        for node in set(walk):
            if not self._nodes[node]:
                del self._nodes[node]
        if self._index.wasteful:
            self._index = self._index.compact()

    def save(self, file: pathlib.Path) -> None:
        """Write the graph with its vectors into an SQLite database."""
        texts = list(dict.fromkeys(text for held in self._nodes.values() for text in held))
        vectors = [self.vector(text) for text in texts]
        stored = instruction_graph_file.Stored(
            threshold=self.threshold,
            paths=[(path, self._walks[key]) for key, path in self._paths.items()],
            vectors=dict(zip(texts, vectors, strict=True)),
        )
        instruction_graph_file.write(file, stored)

    @classmethod
    def load(cls, file: pathlib.Path, embed: Embed) -> "InstructionGraph":
        """Read what :meth:`save` wrote."""
        stored = instruction_graph_file.read(file)
        text = next(iter(stored.vectors), None)
        if text is not None:
            now, then = embed([text])[0], stored.vectors[text]
            if now.shape != then.shape or float(now @ then) < 0.99:
                raise BadInput(
                    f"The instruction graph {file} was built with another embedding model.",
                    fix="Name that model, or build the graph again.",
                )
        graph = cls(embed, stored.threshold)
        for path, walk in stored.paths:
            graph._place(path, walk, stored.vectors)
        return graph

    def _insert(self, path: TaskPath, vectors: Mapping[str, Floats]) -> None:
        """Algorithm 1 for one path; its first lines, which seed two nodes, need no case."""
        walk: list[int] = []
        for text in path.instructions:
            last = walk[-1] if walk else None
            node = self._node_for(text, vectors, last)
            self._hold(text, node, vectors)
            walk.append(node)
        self._keep(path, tuple(walk))

    def _place(self, path: TaskPath, walk: tuple[int, ...], vectors: Mapping[str, Floats]) -> None:
        for text, node in zip(path.instructions, walk, strict=True):
            self._hold(text, node, vectors)
        self._keep(path, walk)

    def _node_for(self, text: str, vectors: Mapping[str, Floats], last: int | None) -> int:
        """The node of the nearest instruction outside ``last``, or a new one if none is near.

        Of several nodes that hold the nearest instruction, the oldest.
        """
        if same := self._index.holders(text, last):
            return min(same)
        row = self._index.row(text)
        vector = vectors[text] if row is None else self._index.vector(row)
        near = self._index.nearest_outside(vector, last)
        if near is None or near.cosine < self.threshold - _ROUNDING:
            return self._new_node
        return min(self._index.holders(near.instruction, last))

    def _hold(self, text: str, node: int, vectors: Mapping[str, Floats]) -> None:
        held = self._nodes.setdefault(node, [])
        self._new_node = max(self._new_node, node + 1)
        if not self._uses[node, text]:
            held.append(text)
            row = self._index.row(text)
            self._index.add(text, node, vectors[text] if row is None else self._index.vector(row))
        self._uses[node, text] += 1

    def _keep(self, path: TaskPath, walk: tuple[int, ...]) -> None:
        self._paths[path.key], self._walks[path.key] = path, walk
        for edge in pairwise(walk):
            self._edges.setdefault(edge, {}).setdefault(path.task, set()).add(path.question)
            self._after.setdefault(edge[0], {})[edge[1]] = None
            self._uses[edge, path.task, path.question] += 1

    def _used_no_more(self, use: tuple[int, str] | tuple[Edge, str, str]) -> bool:
        self._uses[use] -= 1
        if self._uses[use]:
            return False
        del self._uses[use]
        return True

    def _drop_question(self, edge: Edge, path: TaskPath) -> None:
        tasks = self._edges[edge]
        tasks[path.task].remove(path.question)
        if not tasks[path.task]:
            del tasks[path.task]
        if not tasks:
            del self._edges[edge]
            del self._after[edge[0]][edge[1]]
            if not self._after[edge[0]]:
                del self._after[edge[0]]


class _Index:
    """The vectors of instructions with the nodes that hold them, each pair in a row of HNSW.

    HNSW cannot forget: removed rows are passed over until they are half of all.
    """

    def __init__(self) -> None:
        self._hnsw: faiss.IndexHNSWFlat | None = None
        self._rows: list[tuple[str, int]] = []
        self._of: dict[str, dict[int, int]] = {}  # text → node → row
        self._dead: set[int] = set()
        self._alive: faiss.IDSelector | None = None  # made when it is next needed

    @property
    def wasteful(self) -> bool:
        return len(self._dead) * 2 > len(self._rows)

    def row(self, text: str) -> int | None:
        return next(iter(self._of.get(text, {}).values()), None)

    def holders(self, text: str, left_out: int | None) -> list[int]:
        return [node for node in self._of.get(text, ()) if node != left_out]

    def vector(self, row: int) -> Floats:
        assert self._hnsw is not None  # noqa: S101 (it has rows)
        return np.asarray(self._hnsw.reconstruct(row), np.float32)

    def add(self, text: str, node: int, vector: Floats) -> None:
        """One at a time, which makes the same graph of neighbours in every run."""
        import faiss

        if self._hnsw is None:
            self._hnsw = faiss.IndexHNSWFlat(len(vector), _LINKS, faiss.METRIC_INNER_PRODUCT)
            self._hnsw.hnsw.efConstruction = _BUILDING
        self._hnsw.add(vector[None])
        self._of.setdefault(text, {})[node] = len(self._rows)
        self._rows.append((text, node))

    def remove(self, text: str, node: int) -> None:
        self._dead.add(self._of[text].pop(node))
        self._alive = None
        if not self._of[text]:
            del self._of[text]

    def compact(self) -> "_Index":
        made = _Index()
        for row, (text, node) in enumerate(self._rows):
            if row not in self._dead:
                made.add(text, node, self.vector(row))
        return made

    def nearest(self, vector: Floats, k: int) -> list[Neighbour]:
        alive = len(self._rows) - len(self._dead)
        found = self._search(vector, k)
        return found if len(found) == min(k, alive) else self._exact(vector, None, k)

    def nearest_outside(self, vector: Floats, node: int | None) -> Neighbour | None:
        """The nearest instruction that ``node`` does not hold."""
        for k in (16, 256):  # nearly always the first is enough
            outside = (near for near in self._search(vector, k) if near.node != node)
            if (near := next(outside, None)) is not None:
                return near
        return next(iter(self._exact(vector, node, 1)), None)

    def _search(self, vector: Floats, k: int) -> list[Neighbour]:
        if self._hnsw is None:
            return []
        import faiss

        if self._dead and self._alive is None:
            self._alive = _all_but(self._dead)
        depth = faiss.SearchParametersHNSW(  # type: ignore[attr-defined]  # its stubs lag behind
            efSearch=max(_SEARCHING, 2 * k), sel=self._alive
        )
        return self._found(*self._hnsw.search(vector[None], k, params=depth))

    def _exact(self, vector: Floats, node: int | None, k: int) -> list[Neighbour]:
        """Compare with every row, for when the neighbours at hand are all to be passed over."""
        if self._hnsw is None:
            return []
        import faiss

        inside = {row for row, (_, holder) in enumerate(self._rows) if holder == node}
        others = faiss.SearchParameters(
            sel=_all_but(self._dead | inside)  # type: ignore[call-arg]
        )
        flat = faiss.downcast_index(self._hnsw.storage)
        return self._found(*flat.search(vector[None], k, params=others))

    def _found(self, cosines: Floats, rows: NDArray[np.int64]) -> list[Neighbour]:
        pairs = zip(cosines[0].tolist(), rows[0].tolist(), strict=True)
        held = ((*self._rows[row], cosine) for cosine, row in pairs if row >= 0)
        return [Neighbour(text, node, cosine) for text, node, cosine in held]


def _all_but(rows: set[int]) -> "faiss.IDSelector":
    import faiss

    return faiss.IDSelectorNot(faiss.IDSelectorBatch(np.fromiter(rows, np.int64, len(rows))))
