"""The instruction graph: how large it gets with the threshold, and how fast it is.

The sweep is that of Table 6 of InstructRAG (arXiv 2504.13032). Construction is timed with the
vectors of the instructions at hand: embedding them takes longer, and is reported apart.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from planweave.benchmarks.core.metrics import Spread, spread
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.suites.documents.speed import clustered, shared
from planweave.learning import Embed, Floats
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.paths import TaskPath


class Published(NamedTuple):
    """What Table 6 of the paper tells of a threshold, on its own HotpotQA paths."""

    nodes: int
    seconds: float


PUBLISHED = {
    0.0: Published(5, 19.61),
    0.2: Published(29, 21.27),
    0.4: Published(286, 20.87),
    0.6: Published(666, 21.65),
    0.8: Published(720, 23.08),
    1.0: Published(725, 22.07),
}
SIZES = (1_000, 10_000, 100_000)

_NEAREST = 10
_LENGTH = 4  # of a synthetic path
_REMOVED = 5  # every fifth path


@dataclass(frozen=True, kw_only=True)
class Swept:
    """The graph of the same paths at one threshold.

    Attributes:
        threshold: Delta.
        nodes: How many.
        largest: Instructions in the largest node.
        junctions: Nodes that more than one edge leads out of.
        edges: How many.
        seconds: To insert all paths, their vectors given.
        cpu_seconds: The same over all threads.
        published: The paper's figures.
    """

    threshold: float
    nodes: int
    largest: int
    junctions: int
    edges: int
    seconds: float
    cpu_seconds: float
    published: Published


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """All thresholds over one set of paths.

    Attributes:
        paths: Inserted.
        instructions: Of all paths, each different one once.
        embedding_seconds: To embed those.
        embedding_cpu_seconds: The same over all threads.
        lines: One for each threshold.
    """

    paths: int
    instructions: int
    embedding_seconds: float
    embedding_cpu_seconds: float
    lines: Sequence[Swept]


@dataclass(frozen=True, kw_only=True)
class Grown:
    """A graph of so many synthetic instructions, at the threshold that is the default.

    Attributes:
        instructions: How many, all different, in paths of four.
        nodes: How many.
        build_seconds: To insert them, their vectors given.
        build_cpu_seconds: The same over all threads.
        search_ms: The ten nearest of one text.
        search_cpu_ms: The same over all threads, mean: what a busy machine does not change.
        recall: Share of the ten nearest that it finds.
        removal_cpu_ms: To remove a path, mean over every fifth.
        load_cpu_seconds: To read it from disk.
        megabytes: On disk.
    """

    instructions: int
    nodes: int
    build_seconds: float
    build_cpu_seconds: float
    search_ms: Spread
    search_cpu_ms: float
    recall: float
    removal_cpu_ms: float
    load_cpu_seconds: float
    megabytes: float


def sweep(paths: Sequence[TaskPath], embed: Embed) -> Sweep:
    """Build the graph of ``paths`` at each of the paper's thresholds."""
    texts = list(dict.fromkeys(text for path in paths for text in path.instructions))
    clock = _Clock()
    known = _Known(texts, embed(texts))
    seconds, cpu = clock.read()
    return Sweep(
        paths=len(paths),
        instructions=len(texts),
        embedding_seconds=seconds,
        embedding_cpu_seconds=cpu,
        lines=[_swept(paths, known, threshold) for threshold in PUBLISHED],
    )


def grown(size: int, *, queries: int, seed: int) -> Grown:
    """Build a graph of ``size`` instructions whose vectors are drawn, search it, and shrink it."""
    made = clustered(size + queries, seed)
    texts = [f"instruction {row}" for row in range(size)]
    asked = [f"query {row}" for row in range(queries)]
    known = _Known([*texts, *asked], made)
    starts = range(0, size, _LENGTH)
    paths = [TaskPath("synthetic", f"question {s}", tuple(texts[s : s + _LENGTH])) for s in starts]
    graph = InstructionGraph(known)
    graph.nearest("query 0", 1)  # the library is imported before the clock starts
    clock = _Clock()
    graph.insert_all(paths)
    build = clock.read()
    nodes = len(graph.nodes)
    times, found, clock = [], [], _Clock()
    for text in asked:
        start = time.perf_counter()
        found.append(graph.nearest(text, _NEAREST))
        times.append((time.perf_counter() - start) * 1e3)
    _, search_cpu = clock.read()
    rows = np.array([[known.row(near.instruction) for near in each] for each in found])
    truth = np.argsort(-(made[size:] @ made[:size].T), axis=1)[:, :_NEAREST]
    spent = spread(times)
    assert spent is not None  # noqa: S101 (there is at least one query)
    load_cpu, megabytes = _kept(graph, known)
    gone = paths[::_REMOVED]
    clock = _Clock()
    for path in gone:
        graph.remove(path.key)
    _, removal_cpu = clock.read()
    return Grown(
        instructions=size,
        nodes=nodes,
        build_seconds=build[0],
        build_cpu_seconds=build[1],
        search_ms=spent,
        search_cpu_ms=search_cpu * 1e3 / queries,
        recall=shared(truth, rows),
        removal_cpu_ms=removal_cpu * 1e3 / len(gone),
        load_cpu_seconds=load_cpu,
        megabytes=megabytes,
    )


def growth(lines: Sequence[Grown]) -> float | None:
    """How search time grows: the exponent of the size, 1 where it doubles when the size does."""
    if len({line.instructions for line in lines}) < 2:
        return None
    sizes = np.log([line.instructions for line in lines])
    slope, _ = np.polyfit(sizes, np.log([line.search_cpu_ms for line in lines]), 1)
    return float(slope)


def sweep_table(made: Sweep) -> Table:
    """The sweep, the paper's figures beside ours."""
    columns = ("δ", "nodes", "paper", "largest node", "junctions", "edges")
    return Table(
        title=f"{made.paths} paths, {made.instructions} different instructions",
        columns=(*columns, "seconds", "CPU seconds", "paper seconds"),
        rows=[
            (
                *(line.threshold, line.nodes, line.published.nodes, line.largest, line.junctions),
                *(line.edges, line.seconds, line.cpu_seconds, line.published.seconds),
            )
            for line in made.lines
        ],
        note=f"Seconds are without embedding, which took {made.embedding_seconds:.1f} s "
        f"({made.embedding_cpu_seconds:.1f} s CPU). The paper's paths are others, and fewer.",
    )


def growth_table(lines: Sequence[Grown]) -> Table:
    """Synthetic graphs of growing size."""
    exponent = growth(lines)
    return Table(
        title="Synthetic instructions",
        columns=(
            *("instructions", "nodes", "build s", "build CPU s", "search ms", "search CPU ms"),
            *("recall", "removal CPU ms", "load CPU s", "MB"),
        ),
        rows=[
            (
                *(line.instructions, line.nodes, line.build_seconds, line.build_cpu_seconds),
                *(line.search_ms, line.search_cpu_ms, line.recall, line.removal_cpu_ms),
                *(line.load_cpu_seconds, line.megabytes),
            )
            for line in lines
        ],
        note="Search: the ten nearest of one text; mean · median · 95th percentile."
        + (f" CPU time grows as size to the power {exponent:.2f}." if exponent is not None else ""),
    )


def picture(path: Path, made: Sweep, lines: Sequence[Grown]) -> bool:
    """Draw nodes over threshold and search time over size; False if matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    nodes, search = figure.subplots(1, 2)
    thresholds = [line.threshold for line in made.lines]
    nodes.semilogy(thresholds, [s.nodes for s in made.lines], "o-", label=f"{made.paths} paths")
    paper = [line.published.nodes for line in made.lines]
    nodes.semilogy(thresholds, paper, "s--", label="paper, its own paths")
    nodes.set(xlabel="threshold δ", ylabel="nodes")
    nodes.legend(fontsize=8)
    sizes = [line.instructions for line in lines]
    search.loglog(sizes, [line.search_cpu_ms for line in lines], "o-")
    search.set(xlabel="instructions", ylabel="CPU milliseconds per search")
    for axis in (nodes, search):
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=130)
    return True


class _Known:
    """Vectors that are at hand."""

    def __init__(self, texts: Sequence[str], vectors: Floats) -> None:
        self._vectors = vectors
        self._rows = {text: row for row, text in enumerate(texts)}

    def __call__(self, texts: Sequence[str]) -> Floats:
        return self._vectors[[self._rows[text] for text in texts]]

    def row(self, text: str) -> int:
        return self._rows[text]


class _Clock:
    def __init__(self) -> None:
        self._start, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Seconds, and CPU seconds over all threads, since it was made."""
        return time.perf_counter() - self._start, time.process_time() - self._cpu


def _swept(paths: Sequence[TaskPath], embed: Embed, threshold: float) -> Swept:
    clock = _Clock()
    graph = InstructionGraph(embed, threshold)
    graph.insert_all(paths)
    seconds, cpu = clock.read()
    return Swept(
        threshold=threshold,
        nodes=len(graph.nodes),
        largest=max(map(len, graph.nodes.values()), default=0),
        junctions=sum(len(graph.successors(node)) > 1 for node in graph.nodes),
        edges=len(graph.edges),
        seconds=seconds,
        cpu_seconds=cpu,
        published=PUBLISHED[threshold],
    )


def _kept(graph: InstructionGraph, embed: Embed) -> tuple[float, float]:
    """CPU seconds to load it, and megabytes on disk."""
    with TemporaryDirectory(prefix="planweave-") as folder:
        file = Path(folder, "graph.sqlite")
        graph.save(file)
        clock = _Clock()
        InstructionGraph.load(file, embed)
        return clock.read()[1], file.stat().st_size / 1e6
