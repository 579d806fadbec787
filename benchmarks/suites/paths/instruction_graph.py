"""The instruction graph: how large it gets with the threshold, and how long that takes.

The sweep is that of Table 6 of InstructRAG (arXiv 2504.13032). Construction is timed with the
vectors of the instructions at hand: embedding them takes longer, and is reported apart.
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
"""Those of the paper's table 6."""


@dataclass(frozen=True, kw_only=True)
class Swept:
    """The graph of the same paths at one threshold."""

    threshold: float
    nodes: int
    largest: int  # instructions in the largest node
    junctions: int  # nodes that more than one edge leads out of
    edges: int
    seconds: float  # to insert all paths, their vectors given
    cpu_seconds: float  # the same over all threads


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """All thresholds over one set of paths."""

    paths: int
    instructions: int  # of all paths, each different one once
    embedding_seconds: float
    embedding_cpu_seconds: float
    lines: Sequence[Swept]


def sweep(paths: Sequence[TaskPath], embed: Embed) -> Sweep:
    """Build the graph of ``paths`` at each of the paper's thresholds."""
    texts = list(dict.fromkeys(text for path in paths for text in path.instructions))
    clock = Clock()
    known = dict(zip(texts, embed(texts), strict=True))
    seconds, cpu = clock.read()

    def at_hand(some: Sequence[str]) -> Floats:
        return np.stack([known[text] for text in some])

    return Sweep(
        paths=len(paths),
        instructions=len(texts),
        embedding_seconds=seconds,
        embedding_cpu_seconds=cpu,
        lines=[_swept(paths, at_hand, threshold) for threshold in THRESHOLDS],
    )


def sweep_table(made: Sweep) -> ReportTable:
    """The sweep, a line for each threshold."""
    return ReportTable(
        title=f"{made.paths} paths, {made.instructions} different instructions",
        columns=("δ", "nodes", "largest node", "junctions", "edges", "seconds", "CPU seconds"),
        rows=[astuple(line) for line in made.lines],
        note=f"Seconds are without embedding, which took {made.embedding_seconds:.1f} s "
        f"({made.embedding_cpu_seconds:.1f} s CPU).",
    )


class Clock:
    """Wall and processor time of what comes after it."""

    def __init__(self) -> None:
        self._start, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Seconds, and CPU seconds over all threads, since it was made."""
        return time.perf_counter() - self._start, time.process_time() - self._cpu


def _swept(paths: Sequence[TaskPath], embed: Embed, threshold: float) -> Swept:
    clock = Clock()
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
    )
