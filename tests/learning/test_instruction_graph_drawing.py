"""The picture of an instruction graph: what it shows, and that text in it stays text."""

import re
import sys
from pathlib import Path
from xml.etree.ElementTree import parse

import bag_of_words
import pytest

from planweave import BadInput
from planweave.learning.instruction_graph import InstructionGraph
from planweave.learning.instruction_graph_drawing import draw
from planweave.learning.paths import TaskPath

HOSTILE = "</td><script>alert(1)</script> $\\frac{x$ & \x1b[2J"
PATHS = [
    TaskPath("heat", "an egg", ("open fridge", "take egg", "go stove", "heat egg")),
    TaskPath("heat", "a mug", ("open fridge", "take mug", "heat mug")),
    TaskPath(HOSTILE, HOSTILE, (HOSTILE, "take egg", f'" onload="{HOSTILE}')),
]


@pytest.fixture
def graph() -> InstructionGraph:
    made = InstructionGraph(bag_of_words.embed)
    made.insert_all(PATHS)
    return made


def test_no_text_becomes_markup(graph: InstructionGraph, tmp_path: Path) -> None:
    draw(graph, tmp_path / "graph.svg")
    tags = {element.tag.rpartition("}")[2] for element in parse(tmp_path / "graph.svg").iter()}
    assert {"svg", "path"} < tags
    assert not {"script", "a", "image"} & tags


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml")])
def test_a_picture_is_the_same_each_time(
    graph: InstructionGraph, tmp_path: Path, name: str, start: bytes
) -> None:
    for most in (40, 40, 2):
        draw(graph, tmp_path / f"{most}-{name}", most=most)
    before = (tmp_path / f"40-{name}").read_bytes()
    draw(graph, tmp_path / f"40-{name}")
    assert (tmp_path / f"40-{name}").read_bytes() == before
    assert before.startswith(start)
    assert len((tmp_path / f"2-{name}").read_bytes()) < len(before)


def test_every_node_of_a_path_that_stands_out_is_drawn(
    graph: InstructionGraph, tmp_path: Path
) -> None:
    def drawn(**options: str | None) -> set[str]:
        draw(graph, tmp_path / "graph.svg", most=2, **options)
        return set(re.findall(r'id="n(\d+)"', (tmp_path / "graph.svg").read_text("utf-8")))

    key = PATHS[2].key
    assert len(drawn()) == 2
    assert drawn(key=key) == set(map(str, graph.walk(key)))


def test_a_graph_without_edges_or_of_long_paths_is_drawn(tmp_path: Path) -> None:
    for length in (1, 30):
        made = InstructionGraph(bag_of_words.embed, 0.9)
        made.insert(TaskPath("", "count", tuple(f"number{step}" for step in range(length))))
        draw(made, tmp_path / "graph.svg")
        assert (tmp_path / "graph.svg").read_text("utf-8").count('id="n') == len(made.nodes)


def test_what_cannot_be_drawn_is_said(
    graph: InstructionGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match="no format"):
        draw(graph, tmp_path / "graph.html")
    with pytest.raises(BadInput, match="cannot be written"):
        draw(graph, tmp_path / "absent" / "graph.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(BadInput, match="needs the package matplotlib"):
        draw(graph, tmp_path / "graph.png")
