"""``planweave methods``: list the methods."""

import inspect
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from planweave.apps.options import AsJson
from planweave.graphs import METHODS, Method

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph

EXAMPLES = """\
planweave methods --json
"""

_HEAD = """# Graphs

Each method as LangGraph has it, below what its paper's figure shows. `planweave methods
--markdown` writes this page; a test keeps it current. Solid: always; dashed: one of several ways.
*opening*, *tools*, the reading of documents and *closing* are subgraphs that the methods share;
they are drawn once at the end, as PlanRAG and FuRePA have them. The studio opens them by a click.
"""
_PARTS = (
    ("planrag", "opening"),
    ("planrag", "tools"),
    ("furepa", "documents"),
    ("planrag", "closing"),
)


def methods(
    as_json: AsJson = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the documentation page with all graphs.")
    ] = False,
) -> None:
    """List the methods."""
    if markdown:
        typer.echo(page(), nl=False)
        return
    described = {name: one.description for name, one in METHODS.usable().items()}
    if as_json:
        typer.echo(json.dumps(described, indent=2))
        return
    table = Table("method", "what it does", box=None)
    for name, text in described.items():
        table.add_row(name, text)
    Console().print(table)


def page() -> str:
    """The page ``docs/graphs.md``: each method's description and its graph."""
    every = METHODS.usable().values()
    lines = [_HEAD, *(line for one in every for line in _section(one)), "## Shared parts", ""]
    for name, part in _PARTS:
        inner = dict(METHODS.get(name).graph.get_subgraphs())[part]
        lines += [f"### {part.capitalize()}", "", *_mermaid(inner.get_graph()), ""]
    return "\n".join(lines).rstrip() + "\n"


def _section(one: Method) -> Iterator[str]:
    text = inspect.cleandoc(sys.modules[one.wire.__module__].__doc__ or one.description)
    yield from (f"## {one.name}", "", text, "", *_mermaid(one.graph.get_graph()), "")


def _mermaid(graph: "Graph") -> Iterator[str]:
    """A graph in Mermaid's language, without colours, as the page sets them."""
    yield "```mermaid"
    yield "flowchart TD"
    for name in graph.nodes:
        yield f"    {_id(name)}([{name.strip('_')}])" if name.startswith("__") else f"    {name}"
    place = {name: number for number, name in enumerate(graph.nodes)}
    for edge in sorted(graph.edges, key=lambda edge: (place[edge.source], place[edge.target])):
        arrow = "-.->" if edge.conditional else "-->"
        label = f"|{edge.data.replace('_', ' ')}|" if isinstance(edge.data, str) else ""
        yield f"    {_id(edge.source)} {arrow}{label} {_id(edge.target)}"
    yield "```"


def _id(name: str) -> str:
    return f"{name.strip('_')}_" if name.startswith("__") else name  # `end` is a keyword of Mermaid
