"""The instruction graph: Algorithm 1 by hand, by an oracle, and by what always holds."""

import math
import sqlite3
import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import bag_of_words
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
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
GIVEN = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def degrees(texts: Sequence[str]) -> Floats:
    """The vector of "go 30" points 30 degrees to the left."""
    angles = [math.radians(float(text.split()[1])) for text in texts]
    return np.array([[math.cos(angle), math.sin(angle)] for angle in angles], np.float32)


def drawn(texts: Sequence[str]) -> Floats:
    """Vectors in four dimensions, of any direction: no two pairs are equally near."""
    rows = np.stack(
        [np.random.default_rng(zlib.crc32(text.encode())).normal(size=4) for text in texts]
    )
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def graph_of(paths: Sequence[TaskPath], threshold: float) -> InstructionGraph:
    graph = InstructionGraph(drawn, threshold)
    graph.insert_all(paths)
    return graph


def parts(graph: InstructionGraph) -> tuple[object, ...]:
    """What a graph is, whatever the order within its sets."""
    nodes = {node: sorted(held) for node, held in graph.nodes.items()}
    successors = {node: sorted(graph.successors(node)) for node in nodes}
    walks = [graph.walk(path.key) for path in graph.paths]
    return nodes, dict(graph.edges), successors, graph.paths, walks, graph.threshold


def made_of(graph: InstructionGraph) -> tuple[object, ...]:
    """Nodes and edges as the paths and their walks demand them."""
    nodes: dict[int, set[str]] = {}
    edges: dict[tuple[int, int], dict[str, set[str]]] = {}
    for path in graph.paths:
        walk = graph.walk(path.key)
        for text, node in zip(path.instructions, walk, strict=True):
            nodes.setdefault(node, set()).add(text)
        for edge in pairwise(walk):
            edges.setdefault(edge, {}).setdefault(path.task, set()).add(path.question)
    successors = {node: sorted(b for a, b in edges if a == node) for node in nodes}
    return {node: sorted(held) for node, held in nodes.items()}, edges, successors


def path(task: str, question: str, *instructions: str) -> TaskPath:
    return TaskPath(task, question, instructions)


def test_the_first_two_instructions_seed_two_nodes_and_an_edge() -> None:
    graph = InstructionGraph(degrees)
    assert graph.threshold == 0.4
    assert graph.insert(path("heat", "an egg", "go 0", "go 1")) == (0, 1)
    assert graph.nodes == {0: ["go 0"], 1: ["go 1"]}
    assert graph.edges == {(0, 1): {"heat": {"an egg"}}}
    assert (graph.successors(0), graph.successors(1)) == ([1], [])


def test_algorithm_1_step_by_step() -> None:
    graph = InstructionGraph(degrees, 0.9)  # within 25 degrees
    first = path("heat", "an egg", "go 0", "go 60", "go 120")
    assert graph.insert(first) == (0, 1, 2)
    # 20 is near 0; 40 is near 20, in whose node it must not go, then near 60; 200 is near none
    second = path("cool", "a mug", "go 20", "go 40", "go 200")
    assert graph.insert(second) == (0, 1, 3)
    # 80 is between 60 (node 1) and 120; 65 would be nearest to 60, in the node of 80
    third = path("heat", "a mug", "go 80", "go 65")
    assert graph.insert(third) == (1, 4)
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
    assert [graph.insert(known) for known in (first, second)] == [(0, 1, 2), (0, 1, 3)]
    assert graph.paths == [first, second, third]


def test_an_instruction_that_is_repeated_at_once_gets_a_second_node() -> None:
    graph = InstructionGraph(degrees)
    assert graph.insert(path("heat", "an egg", "go 0", "go 0", "go 0")) == (0, 1, 0)
    assert graph.edges == {(0, 1): {"heat": {"an egg"}}, (1, 0): {"heat": {"an egg"}}}
    assert {near[:2] for near in graph.nearest("go 1", 3)} == {("go 0", 0), ("go 0", 1)}


def test_neighbours_of_a_text() -> None:
    graph = InstructionGraph(degrees)
    assert graph.nearest("go 7", 3) == []
    graph.insert(path("heat", "an egg", "go 0", "go 90", "go 30"))
    found = graph.nearest("go 10", 2)
    assert [(near.instruction, near.node) for near in found] == [("go 0", 0), ("go 30", 0)]
    assert found[1].cosine == pytest.approx(math.cos(math.radians(20)))
    np.testing.assert_allclose(graph.vector("go 90"), [0, 1], atol=1e-6)
    np.testing.assert_allclose(graph.vector("go 180"), [-1, 0], atol=1e-6)


def test_each_text_is_embedded_once() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> Floats:
        asked.extend(texts)
        return degrees(texts)

    graph = InstructionGraph(embed)
    graph.insert_all([path("a", "b", "go 1", "go 90"), path("a", "c", "go 90", "go 1")])
    graph.insert(path("d", "e", "go 1", "go 2"))
    assert asked == ["go 1", "go 90", "go 2"]


@GIVEN
@given(PATHS, THRESHOLDS)
def test_the_graph_is_that_of_the_algorithm(paths: list[TaskPath], threshold: float) -> None:
    nodes: list[list[str]] = []
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
    graph = graph_of(paths, threshold)
    assert [graph.walk(one.key) for one in paths] == walks
    assert list(graph.nodes.values()) == nodes


@GIVEN
@given(PATHS, THRESHOLDS)
def test_every_path_can_be_walked_and_neighbours_stay_apart(
    paths: list[TaskPath], threshold: float
) -> None:
    graph = graph_of(paths, threshold)
    for one in paths:
        walk = graph.walk(one.key)
        assert all(t in graph.nodes[n] for t, n in zip(one.instructions, walk, strict=True))
        for a, b in pairwise(walk):
            assert a != b
            assert b in graph.successors(a)
            assert one.question in graph.edges[a, b][one.task]
    assert parts(graph)[:3] == made_of(graph)


@GIVEN
@given(PATHS, THRESHOLDS, st.data())
def test_removal_leaves_no_orphan_and_the_others_where_they_were(
    paths: list[TaskPath], threshold: float, data: st.DataObject
) -> None:
    graph = graph_of(paths, threshold)
    before = {one.key: graph.walk(one.key) for one in paths}
    gone = data.draw(st.lists(st.sampled_from(paths), unique=True) if paths else st.just([]))
    for one in gone:
        graph.remove(one.key)
    kept = [one for one in paths if one not in gone]
    assert graph.paths == kept
    assert [graph.walk(one.key) for one in kept] == [before[one.key] for one in kept]
    assert parts(graph)[:3] == made_of(graph)
    alive = {(text, node) for node, held in graph.nodes.items() for text in held}
    found = graph.nearest("do 1", 200)
    assert {(near.instruction, near.node) for near in found} == alive
    assert len(found) == len(alive)


@GIVEN
@given(PATHS.filter(bool), THRESHOLDS)
def test_removing_what_was_inserted_last_undoes_it(paths: list[TaskPath], threshold: float) -> None:
    *earlier, last = paths
    graph, never = graph_of(paths, threshold), graph_of(earlier, threshold)
    graph.remove(last.key)
    assert parts(graph) == parts(never)
    assert graph.insert(last) is not None
    for one in [*earlier, last]:
        graph.remove(one.key)
    assert parts(graph) == parts(InstructionGraph(drawn, threshold))


def test_who_came_by_a_removed_path_stays_where_it_brought_them() -> None:
    bridge, far = path("a", "b", "go 20"), path("a", "c", "go 40")
    graph = InstructionGraph(degrees, 0.9)
    graph.insert_all([path("a", "a", "go 0"), bridge, far])
    graph.remove(bridge.key)
    assert graph.nodes == {0: ["go 0", "go 40"]}
    anew = InstructionGraph(degrees, 0.9)
    anew.insert_all(graph.paths)  # as if the bridge had never been
    assert anew.nodes == {0: ["go 0"], 1: ["go 40"]}


def test_removed_rows_do_not_pile_up() -> None:
    graph = InstructionGraph(bag_of_words.embed)
    for number in range(200):
        one = path("a", "b", f"go to shelf {number}", f"open {number}")
        graph.insert(one)
        if number % 4:
            graph.remove(one.key)
    near = graph.nearest("go to shelf 100", 100)
    assert len(near) == 100
    assert near[0].instruction == "go to shelf 100"
    assert len(graph._index._rows) <= 201


@GIVEN
@given(PATHS, THRESHOLDS, st.integers(0, 12))
def test_what_is_saved_is_loaded(
    tmp_path: Path, paths: list[TaskPath], threshold: float, cut: int
) -> None:
    graph, file = graph_of(paths[:cut], threshold), tmp_path / "graph.sqlite"
    graph.save(file)
    loaded = InstructionGraph.load(file, drawn)
    assert parts(loaded) == parts(graph)
    for each in (graph, loaded):
        each.insert_all(paths[cut:])
    assert parts(loaded) == parts(graph)
    assert [one.name for one in tmp_path.iterdir()] == ["graph.sqlite"]


@GIVEN
@given(PATHS)
def test_at_threshold_1_only_the_same_instruction_shares_a_node(paths: list[TaskPath]) -> None:
    assert all(len(held) == 1 for held in graph_of(paths, 1).nodes.values())


@GIVEN
@given(PATHS)
def test_at_threshold_0_two_nodes_hold_what_is_alike_at_all(paths: list[TaskPath]) -> None:
    graph = InstructionGraph(bag_of_words.embed, 0)  # no two texts point away from each other
    graph.insert_all(paths)
    most = max((len(one.instructions) for one in paths), default=0)
    assert len(graph.nodes) == min(2, most)


def test_a_crowd_in_the_last_node_is_passed_over() -> None:
    graph = InstructionGraph(degrees, 0.9)
    crowd = [path("a", f"b{n}", f"go {n / 100}") for n in range(700)]  # all share a node
    far, near = path("a", "far", "go 20"), path("a", "near", "go 0.005", "go 0.015")
    graph.insert_all([*crowd, path("c", "apart", "go 90", "go 25")])
    assert len(graph.nodes[0]) == 701  # 25 degrees is within reach of 7
    assert graph.insert(near) == (0, 2)
    assert graph.insert(far) == (0,)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan])
def test_a_threshold_is_a_cosine(threshold: float) -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        InstructionGraph(degrees, threshold)


def test_a_graph_belongs_to_its_model(tmp_path: Path) -> None:
    graph, file = InstructionGraph(degrees), tmp_path / "graph.sqlite"
    graph.insert(path("a", "b", "go 0", "go 90"))
    graph.save(file)
    for other in (drawn, lambda texts: -degrees(texts)):
        with pytest.raises(BadInput, match="another embedding model"):
            InstructionGraph.load(file, other)


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    graph, file = InstructionGraph(degrees), tmp_path / "graph.sqlite"
    graph.insert(path("a", "b", "go 0", "go 90"))
    damages = (
        "UPDATE graph SET version = 9",
        "DELETE FROM graph",
        "DROP TABLE path",
        "UPDATE path SET nodes = '[0, 0]'",
        "UPDATE path SET nodes = '[0]'",
        "UPDATE path SET nodes = '[0, \"1\"]'",
        "UPDATE path SET instructions = '7'",
        "UPDATE path SET instructions = '[[], []]'",
        "UPDATE path SET instructions = '{'",
        "DELETE FROM vector",
        "UPDATE vector SET numbers = x'00'",
        "UPDATE vector SET numbers = x'0000C07F0000C07F'",
        "UPDATE vector SET numbers = x'0000803F' WHERE instruction = 'go 0'",
    )
    for damage in damages:
        graph.save(file)
        with sqlite3.connect(file) as database:
            database.execute(damage)
        database.close()
        with pytest.raises(BadInput, match="absent, damaged or of another version"):
            InstructionGraph.load(file, degrees)
    file.write_bytes(b"SQLite format 3\0" + bytes(100))
    for wrong in (file, tmp_path / "absent.sqlite", tmp_path):
        with pytest.raises(BadInput, match="absent, damaged"):
            InstructionGraph.load(wrong, degrees)
    with pytest.raises(BadInput, match="cannot be written"):
        graph.save(tmp_path / "absent" / "graph.sqlite")
