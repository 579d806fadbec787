"""``planweave bench instruction-graph``: nodes by threshold."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from planweave import BadInput
from planweave.apps.cli.bench.common import write_json
from planweave.apps.options import AsJson, writable
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.options import Embeddings
from planweave.benchmarks.core.report import show_tables
from planweave.benchmarks.suites.paths.instruction_graph import sweep, sweep_table
from planweave.learning import SentenceVectors
from planweave.learning.paths import read_paths
from planweave.models import embeddings as embedding_model


def instruction_graph(
    *,
    data: Annotated[
        Path, typer.Option(help="File of trajectories; only successful ones are used.")
    ],
    embeddings: Embeddings = "minilm",
    out: Annotated[Path | None, typer.Option(help="Folder of the result.")] = None,
    as_json: AsJson = False,
) -> None:
    """Instruction graph (InstructRAG, table 6): nodes and seconds by threshold."""
    console = Console(stderr=as_json, highlight=False)
    if out:
        writable(out)
    paths = [path for path in read_paths(data) if path.reward == 1]
    if not paths:
        raise BadInput(f"The file {data} has no successful path.", fix="Name another file.")
    swept = sweep(paths, SentenceVectors(embedding_model(embeddings), keep=200_000))
    show_tables([sweep_table(swept)], console)
    made = machine.describe_run() | {
        "data": data.name,
        "embeddings": embeddings,
        "sweep": asdict(swept),
    }
    if out:
        write_json(out / "instruction-graph.json", made, console)
    if as_json:
        typer.echo(json.dumps(made, indent=1))
