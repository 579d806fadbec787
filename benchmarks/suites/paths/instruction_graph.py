"""The size and the construction time of the instruction graph at several thresholds.

The sweep is that of Table 6 of InstructRAG (arXiv 2504.13032). Construction times exclude the
embedding of the instructions, which takes longer and is reported separately.
"""

import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from planweave.benchmarks.core.table import ReportTable
from planweave.learning import Embed, Floats
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.paths import TaskPath

THRESHOLDS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""The thresholds of the paper's table 6."""


@dataclass(frozen=True, kw_only=True)
class Swept:
    """The graph of all paths at one threshold."""

    threshold: float
    nodes: int
    largest: int  # instructions in the largest node
    junctions: int  # nodes with several outgoing edges
    edges: int
    seconds: float  # to insert all paths, without embedding
    cpu_seconds: float  # the same over all threads


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """All thresholds over one set of paths."""

    paths: int
    instructions: int  # distinct instructions of all paths
    embedding_seconds: float
    embedding_cpu_seconds: float
    lines: Sequence[Swept]


def sweep(paths: Sequence[TaskPath], embed: Embed) -> Sweep:
    """Build the graph of ``paths`` at each of the paper's thresholds."""
    texts = list(dict.fromkeys(text for path in paths for text in path.instructions))
    clock = Clock()
    known = dict(zip(texts, embed(texts), strict=True))
    seconds, cpu = clock.read()

    def look_up(some: Sequence[str]) -> Floats:
        return np.stack([known[text] for text in some])

    return Sweep(
        paths=len(paths),
        instructions=len(texts),
        embedding_seconds=seconds,
        embedding_cpu_seconds=cpu,
        lines=[_build_graph(paths, look_up, threshold) for threshold in THRESHOLDS],
    )


def sweep_table(made: Sweep) -> ReportTable:
    """The sweep as a table, with a row for each threshold."""
    return ReportTable(
        title=f"{made.paths} paths, {made.instructions} different instructions",
        columns=("δ", "nodes", "largest node", "junctions", "edges", "seconds", "CPU seconds"),
        rows=[astuple(line) for line in made.lines],
        note=f"Seconds are without embedding, which took {made.embedding_seconds:.1f} s "
        f"({made.embedding_cpu_seconds:.1f} s CPU).",
    )


class Clock:
    """Measures wall and processor time from its creation."""

    def __init__(self) -> None:
        self._start, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Seconds, and CPU seconds over all threads, since its creation."""
        return time.perf_counter() - self._start, time.process_time() - self._cpu


def _build_graph(paths: Sequence[TaskPath], embed: Embed, threshold: float) -> Swept:
    clock = Clock()
    graph = InstructionGraph.of(paths, embed, threshold)
    seconds, cpu = clock.read()
    return Swept(
        threshold=threshold,
        nodes=len(graph.nodes),
        largest=max(map(len, graph.nodes.values()), default=0),
        junctions=sum(len(graph.successors(node)) > 1 for node in graph.nodes),
        edges=len(graph.edges),
        seconds=seconds,
        cpu_seconds=cpu,
    )
