"""``planweave bench instruction-graph``: nodes by threshold, and time by size."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from planweave import BadInput
from planweave.apps.cli.bench.common import AsJson
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.report import show_tables
from planweave.benchmarks.suites.paths import instruction_graph as suite
from planweave.learning import SentenceVectors
from planweave.learning.paths import read_paths
from planweave.models import embeddings as embedding_model


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
        raise BadInput(f"The file {data} holds no successful path.", fix="Name another file.")
    swept = suite.sweep(paths, SentenceVectors(embedding_model(embeddings), keep=200_000))
    show_tables([suite.sweep_table(swept)], console)
    lines = []
    for one in size or suite.SIZES:
        lines.append(suite.grown(one, queries=queries, seed=seed))
        console.print(f"{one} synthetic instructions: done", style="dim")
    show_tables([suite.growth_table(lines)], console)
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
    return machine.head() | {
        "versions": machine.versions() | {name: version(name) for name in packages},
        "data": data.name,
        "embeddings": embeddings,
        "sweep": asdict(swept) | {"lines": thresholds},
        "synthetic": {"search_exponent": suite.growth(lines), "lines": growing},
    }
