"""``planweave bench instruction-graph``: nodes by threshold, and time by size."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Drawn

from apps.bench.common import AsJson
from benchmarks import instruction_graph as suite
from benchmarks import machine
from benchmarks.table import Table, text
from learning import SentenceVectors
from learning.paths import read_paths
from models import embeddings as embedding_model
from planweave import BadInput


def instruction_graph(
    *,
    data: Annotated[Path, typer.Option(help="File of trajectories; the successful ones count.")],
    embeddings: Annotated[str, typer.Option(help="Embedding model.")] = "minilm",
    size: Annotated[
        list[int] | None,
        typer.Option(help="Synthetic instructions; repeatable.", show_default="1000, …, 100000"),
    ] = None,
    queries: Annotated[int, typer.Option(help="Searches at each size.", min=1)] = 500,
    seed: Annotated[int, typer.Option(help="Of the synthetic vectors.", min=0)] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder of the result and picture.")] = None,
    as_json: AsJson = False,
) -> None:
    """Instruction graph (InstructRAG): thresholds on real paths, and growing synthetic ones."""
    console = Console(stderr=as_json, highlight=False)
    paths = [path for path in read_paths(data) if path.reward == 1]
    if not paths:
        raise BadInput(f"The file {data} holds no successful path.", mend="Name another file.")
    swept = suite.sweep(paths, SentenceVectors(embedding_model(embeddings), keep=200_000))
    _show(suite.sweep_table(swept), console)
    lines = []
    for one in size or suite.SIZES:
        lines.append(suite.grown(one, queries=queries, seed=seed))
        console.print(f"{one} synthetic instructions: done", style="dim")
    _show(suite.growth_table(lines), console)
    made = _result(data, embeddings, swept, lines)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "instruction-graph.json").write_text(json.dumps(made, indent=1) + "\n", "utf-8")
        suite.picture(out / "instruction-graph.png", swept, lines)
        console.print(f"Written: {out}", markup=False, soft_wrap=True)
    if as_json:
        typer.echo(json.dumps(made, indent=1))


def _result(
    data: Path, embeddings: str, swept: suite.Sweep, lines: Sequence[suite.Grown]
) -> dict[str, Any]:
    packages = ("faiss-cpu", "numpy")
    growing = [asdict(line) | {"search_ms": line.search_ms._asdict()} for line in lines]
    thresholds = [asdict(line) | {"published": line.published._asdict()} for line in swept.lines]
    return {
        "command": machine.command(["planweave", *sys.argv[1:]]),
        "date": datetime.now(UTC).date().isoformat(),
        "data": data.name,
        "embeddings": embeddings,
        "machine": machine.machine(),
        "versions": machine.versions() | {name: version(name) for name in packages},
        "commit": machine.commit(),
        "sweep": asdict(swept) | {"lines": thresholds},
        "synthetic": {"search_exponent": suite.growth(lines), "lines": growing},
    }


def _show(made: Table, console: Console) -> None:
    drawn = Drawn(*made.columns, title=made.title, title_justify="left", box=None)
    for row in made.rows:
        drawn.add_row(*map(text, row))
    console.print(drawn)
    console.print(made.note, style="dim", markup=False)
