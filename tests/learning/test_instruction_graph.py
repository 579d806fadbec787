"""The instruction graph: Algorithm 1 by hand, by an oracle, and by what always holds."""

import math
import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from planweave import BadInput
from planweave.learning import Floats
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.paths import TaskPath

THRESHOLDS = st.sampled_from([0.0, 0.2, 0.4, 0.7, 1.0])
WORDS = st.sampled_from([f"do {number}" for number in range(25)])
PATHS = st.lists(
    st.builds(
        TaskPath,
        task=st.sampled_from(["heat", "cool"]),
        question=st.sampled_from(["an egg", "a mug", "a pan"]),
        instructions=st.lists(WORDS, min_size=1, max_size=5).map(tuple),
    ),
    max_size=12,
    unique_by=lambda path: path.key,
)


def degrees(texts: Sequence[str]) -> Floats:
    """The vector of "go 30" points 30 degrees to the left."""
    angles = [math.radians(float(text.split()[1])) for text in texts]
    return np.array([[math.cos(angle), math.sin(angle)] for angle in angles], np.float32)


def drawn(texts: Sequence[str]) -> Floats:
    """Vectors in four dimensions, of any direction: no two pairs are equally near."""
    rows = np.stack([np.random.default_rng(zlib.crc32(t.encode())).normal(size=4) for t in texts])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def path(task: str, question: str, *instructions: str) -> TaskPath:
    return TaskPath(task, question, instructions)


def insert(graph: InstructionGraph, one: TaskPath) -> tuple[int, ...]:
    return graph.insert_all([one])[0]


def test_algorithm_1_step_by_step() -> None:
    graph = InstructionGraph(degrees, 0.9)  # within 25 degrees
    first = path("heat", "an egg", "go 0", "go 60", "go 120")
    assert insert(graph, first) == (0, 1, 2)
    # 20 is near 0; 40 is near 20, in whose node it must not go, then near 60; 200 is near none
    second = path("cool", "a mug", "go 20", "go 40", "go 200")
    assert insert(graph, second) == (0, 1, 3)
    # 80 is between 60 (node 1) and 120; 65 would be nearest to 60, in the node of 80
    third = path("heat", "a mug", "go 80", "go 65")
    assert insert(graph, third) == (1, 4)
    assert graph.nodes == {
        0: ["go 0", "go 20"],
        1: ["go 60", "go 40", "go 80"],
        2: ["go 120"],
        3: ["go 200"],
        4: ["go 65"],
    }
    assert graph.edges == {
        (0, 1): {"heat": {"an egg"}, "cool": {"a mug"}},
        (1, 2): {"heat": {"an egg"}},
        (1, 3): {"cool": {"a mug"}},
        (1, 4): {"heat": {"a mug"}},
    }
    assert graph.successors(1) == [2, 3, 4]
    assert [insert(graph, known) for known in (first, second)] == [(0, 1, 2), (0, 1, 3)]
    assert graph.paths == [first, second, third]


def test_an_instruction_that_is_repeated_at_once_gets_a_second_node() -> None:
    graph = InstructionGraph(degrees)
    assert insert(graph, path("heat", "an egg", "go 0", "go 0", "go 0")) == (0, 1, 0)
    assert graph.edges == {(0, 1): {"heat": {"an egg"}}, (1, 0): {"heat": {"an egg"}}}


@settings(max_examples=60)
@given(PATHS, THRESHOLDS)
def test_the_graph_is_that_of_the_algorithm(paths: list[TaskPath], threshold: float) -> None:
    nodes: list[list[str]] = []
    edges: dict[tuple[int, int], dict[str, set[str]]] = {}
    walks = []
    for one in paths:
        last, walk = None, []
        for text in one.instructions:
            (vector,) = drawn([text])
            near = [
                (float(drawn([other])[0] @ vector), -number)
                for number, held in enumerate(nodes)
                if number != last
                for other in held
            ]
            cosine, place = max(near, default=(-1.0, 0))
            if cosine < threshold - 1e-6:
                nodes.append([])
                place = 1 - len(nodes)
            last = -place
            nodes[last] += [text] if text not in nodes[last] else []
            walk.append(last)
        walks.append(tuple(walk))
        for edge in pairwise(walk):
            edges.setdefault(edge, {}).setdefault(one.task, set()).add(one.question)
    graph = InstructionGraph.of(paths, drawn, threshold)
    assert [graph.walk(one.key) for one in paths] == walks
    assert list(graph.nodes.values()) == nodes
    assert graph.edges == edges
    for node in graph.nodes:
        assert sorted(graph.successors(node)) == sorted(b for a, b in edges if a == node)


def test_a_crowd_in_the_last_node_is_passed_over() -> None:
    crowd = [path("a", f"b{n}", f"go {n / 100}") for n in range(700)]  # all share a node
    far, near = path("a", "far", "go 20"), path("a", "near", "go 0.005", "go 0.015")
    graph = InstructionGraph.of([*crowd, path("c", "apart", "go 90", "go 25")], degrees, 0.9)
    assert len(graph.nodes[0]) == 701  # 25 degrees is within reach of 7
    assert insert(graph, near) == (0, 2)
    assert insert(graph, far) == (0,)


@cases(-0.1, 1.1, math.nan)
def test_a_threshold_is_a_cosine(threshold: float) -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        InstructionGraph(degrees, threshold)
