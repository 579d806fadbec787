"""A picture of an instruction graph: nodes from left to right, junctions, tasks."""

import io
import pathlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean as mean
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from planweave import BadInput
from planweave.learning.instruction_graph import Edge, InstructionGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg")

Place: TypeAlias = tuple[float, float]

_MOST_COLUMNS = 6
_LABEL = 26
_SWEEPS = 8
_OTHERS = "#9aa0a6"
_PALETTE = ("#3366cc", "#109618", "#990099", "#dc3912", "#0099c6", "#b5651d", "#dd4477")
_JUNCTION, _NODE, _INK = "#f2a541", "#dbe4f0", "#23303f"


class _Link(NamedTuple):
    """An edge of the picture: the task with most questions on it, and all its questions."""

    edge: Edge
    task: str
    questions: int


@dataclass(frozen=True)
class Drawing:
    """What of a graph is drawn, and where.

    Attributes:
        graph: All of it.
        places: The nodes that are drawn, each with its place.
        links: The edges between them.
        colours: Of the tasks with most questions.
        walk: The nodes of one path, which stand out.
    """

    graph: InstructionGraph
    places: Mapping[int, Place]
    links: Sequence[_Link]
    colours: Mapping[str, str]
    walk: Sequence[int]


def draw(
    graph: InstructionGraph, file: pathlib.Path, *, most: int = 40, key: str | None = None
) -> None:
    """Draw a graph as PNG or SVG.

    Args:
        graph: With at least one path.
        file: Its suffix is one of :data:`FORMATS`.
        most: Nodes in the picture, those that most paths lead through.
        key: Of a path that stands out, and whose nodes are in the picture before all others.

    Raises:
        BadInput: The format is unknown, matplotlib is missing, or the file cannot be written.
    """
    if file.suffix.lower() not in FORMATS:
        raise BadInput(
            f"{file} names no format of pictures.", fix=f"End it in {', '.join(FORMATS)}."
        )
    figure = _figure(_planned(graph, most, graph.walk(key) if key else ()))
    try:
        file.write_bytes(_saved(figure, file.suffix.lower().removeprefix(".")))
    except OSError as error:
        raise BadInput(
            f"The picture cannot be written to {file} ({error.strerror}).",
            fix="Name a file in a folder that can be written.",
        ) from None


def _planned(graph: InstructionGraph, most: int, walk: Sequence[int]) -> Drawing:
    walks = [graph.walk(path.key) for path in graph.paths]
    through = Counter(node for one in walks for node in set(one))
    first = dict.fromkeys([*walk, *(node for node, _ in through.most_common())])
    shown = set(list(first)[: max(most, len(set(walk)))])
    links = [
        _Link(edge, max(tasks, key=lambda task: len(tasks[task])), sum(map(len, tasks.values())))
        for edge, tasks in graph.edges.items()
        if shown >= set(edge)
    ]
    asked: Counter[str] = Counter()
    for link in links:
        asked[link.task] += link.questions
    colours = dict(zip((task for task, _ in asked.most_common()), _PALETTE, strict=False))
    columns = _columns({node: _step(node, walks, walk) for node in first if node in shown})
    return Drawing(graph, _placed(columns, [link.edge for link in links]), links, colours, walk)


def _step(node: int, walks: Sequence[Sequence[int]], walk: Sequence[int]) -> float:
    """Where a node stands: in the path that stands out, else in all, on average."""
    if node in walk:
        return walk.index(node)
    return mean(step for one in walks for step, passed in enumerate(one) if passed == node)


def _columns(steps: Mapping[int, float]) -> dict[int, int]:
    """The column of each node: its step, or where that makes too many, as many nodes in each."""
    columns = {node: round(step) for node, step in steps.items()}
    if len(set(columns.values())) <= _MOST_COLUMNS:
        return columns
    ranked = sorted(steps, key=lambda node: steps[node])
    return {node: rank * _MOST_COLUMNS // len(ranked) for rank, node in enumerate(ranked)}


def _placed(columns: Mapping[int, int], edges: Sequence[Edge]) -> dict[int, Place]:
    """Columns by usual step; within a column, near those it is joined to (barycentres)."""
    beside: dict[int, list[int]] = {node: [] for node in columns}
    for a, b in edges:
        beside[a].append(b)
        beside[b].append(a)
    order = sorted(set(columns.values()))
    held = [[node for node in columns if columns[node] == column] for column in order]
    height: dict[int, float] = {}
    for _ in range(_SWEEPS):
        for nodes in held:
            nodes.sort(key=lambda n: np.mean([height.get(m, 0.0) for m in beside[n]] or [0.0]))
            height |= {node: row - (len(nodes) - 1) / 2 for row, node in enumerate(nodes)}
    return {node: (float(x), -height[node]) for x, nodes in enumerate(held) for node in nodes}


def _figure(drawing: Drawing) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise BadInput(
            "A picture needs the package matplotlib.",
            fix="Install it with `pip install 'planweave[learning]'`.",
        ) from None
    across = {x for x, _ in drawing.places.values()}
    rows = max(Counter(x for x, _ in drawing.places.values()).values())
    size = (max(8.0, 2.4 * len(across)), max(3.6, 0.95 * rows + 1.2))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    for link in sorted(drawing.links, key=lambda link: link.questions):
        _arrow(axes, drawing, link)
    for node, place in drawing.places.items():
        _node(axes, drawing, node, place)
    axes.margins(0.12, 0.08)
    axes.set_title(_title(drawing), fontsize=10, color=_INK, loc="left", parse_math=False)
    _legend(axes, drawing)
    return figure


def _arrow(axes: "Axes", drawing: Drawing, link: _Link) -> None:
    from matplotlib.patches import FancyArrowPatch

    a, b = link.edge
    on_walk = link.edge in set(pairwise(drawing.walk))
    faint = 0.2 if drawing.walk and not on_walk else 0.55
    axes.add_patch(
        FancyArrowPatch(
            drawing.places[a],
            drawing.places[b],
            connectionstyle="arc3,rad=0.12",
            arrowstyle="-|>",
            mutation_scale=11,
            shrinkA=9,
            shrinkB=9,
            linewidth=3 if on_walk else 0.8 + np.log2(link.questions) / 2,
            color=drawing.colours.get(link.task, _OTHERS),
            alpha=1 if on_walk else faint,
            zorder=2 if on_walk else 1,
        )
    )


def _node(axes: "Axes", drawing: Drawing, node: int, place: Place) -> None:
    held = drawing.graph.nodes[node]
    junction = len(drawing.graph.successors(node)) > 1
    faint = bool(drawing.walk) and node not in drawing.walk
    dot = axes.scatter(
        *place,
        s=110 + 55 * np.log2(len(held)),
        color=_JUNCTION if junction else _NODE,
        edgecolor=_INK,
        linewidth=1,
        alpha=0.4 if faint else 1,
        zorder=3,
    )
    dot.set_gid(f"n{node}")
    if node in drawing.walk:
        turns = ",".join(str(n) for n, passed in enumerate(drawing.walk, 1) if passed == node)
        axes.annotate(turns, place, ha="center", va="center", fontsize=7, weight="bold", zorder=4)
    more = f" +{len(held) - 1}" if len(held) > 1 else ""
    axes.annotate(
        _short(_middle(drawing.graph, held)) + more,
        place,
        xytext=(0, -12),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=7,
        color=_INK,
        alpha=0.5 if faint else 1,
        parse_math=False,
        zorder=4,
        bbox={"boxstyle": "round,pad=0.1", "color": "white", "alpha": 0.75, "linewidth": 0},
    )


def _legend(axes: "Axes", drawing: Drawing) -> None:
    from matplotlib.lines import Line2D

    named = [(colour, _short(task) or "no task") for task, colour in drawing.colours.items()]
    if any(link.task not in drawing.colours for link in drawing.links):
        named.append((_OTHERS, "other tasks"))
    lines = [Line2D([], [], color=colour, label=task) for colour, task in named]
    dots = [
        Line2D([], [], marker="o", linestyle="", color=colour, mec=_INK, label=text)
        for colour, text in ((_JUNCTION, "junction"), (_NODE, "node with one way on, or none"))
    ]
    legend = axes.legend(
        handles=[*dots, *lines],
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        ncols=4,
        fontsize=7,
        frameon=False,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _title(drawing: Drawing) -> str:
    graph = drawing.graph
    junctions = sum(len(graph.successors(node)) > 1 for node in graph.nodes)
    title = (
        f"{len(graph.paths)} paths · {len(graph.nodes)} nodes, {junctions} of them junctions · "
        f"{len(graph.edges)} edges · δ {graph.threshold:g}"
    )
    left_out = len(graph.nodes) - len(drawing.places)
    return title + (f" · {left_out} nodes with fewer paths are not drawn" if left_out else "")


def _middle(graph: InstructionGraph, held: Sequence[str]) -> str:
    """The instruction that is nearest to the mean of all in its node."""
    vectors = np.stack([graph.vector(text) for text in held])
    return held[int(np.argmax(vectors @ vectors.mean(axis=0)))]


def _short(text: str) -> str:
    plain = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    return plain if len(plain) <= _LABEL else f"{plain[: _LABEL - 1]}…"


def _saved(figure: "Figure", kind: str) -> bytes:
    from matplotlib import rc_context

    packed = io.BytesIO()
    with rc_context({"svg.hashsalt": "planweave"}):  # the same bytes for the same graph
        figure.savefig(
            packed, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None
        )
    return packed.getvalue()
