"""``planweave bench paths``: which path is retrieved for a question, without a language model."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter
from rich.console import Console
from rich.table import Table as RichTable

from apps.bench.common import AsJson, Out
from apps.progress import sentence_vectors
from benchmarks import machine
from benchmarks.lines import LineFile
from benchmarks.paths_tasks import Environment, load, world
from benchmarks.table import text
from models import process_settings
from planweave import BadInput


def paths(
    *,
    environment: Annotated[Environment, typer.Option(help="How tasks and actions are told.")],
    data: Annotated[Path, typer.Option(help="Trajectories, as .jsonl[.gz].")],
    seed: Annotated[
        list[int], typer.Option(help="Of tasks, training and noise; repeatable.", min=0)
    ] = [1, 2, 3],  # noqa: B006 - typer copies it
    iterations: Annotated[int, typer.Option(help="Of the meta-training.", min=1)] = 10,
    out: Out = Path("results/paths"),
    as_json: AsJson = False,
) -> None:
    """InstructRAG: F1 of the retrieved path on unseen tasks, ablations, noise, few-shot, RAP."""
    try:
        import jax

        from benchmarks import paths as suite
        from learning.agent_batches import Settings
    except ImportError as error:
        raise BadInput(
            f"Training needs the package {error.name}.",
            mend="Install it with `pip install 'planweave[learning,documents]'`.",
        ) from None
    compiled = str(process_settings().cache_dir / "jax")
    jax.config.update("jax_compilation_cache_dir", compiled)  # type: ignore[no-untyped-call]
    console = Console(stderr=as_json, highlight=False)
    given = load(environment, data)
    file = LineFile(
        out / f"{environment}.jsonl",
        TypeAdapter(suite.Measured),
        lambda said: console.print(said, markup=False, soft_wrap=True),
    )
    try:
        lines = list(file.lines)
        with sentence_vectors(console) as embed, console.status("") as status:
            tell = status.update if console.is_terminal else console.print
            for one in sorted(set(seed) - {line.seed for line in lines}):
                settings = Settings(seed=one, iterations=iterations)
                made = list(suite.Experiment(world(given, one), embed, settings, tell).lines())
                for line in made:  # only now, so that a stopped seed is done again as a whole
                    file.append(line)
                lines += made
    finally:
        file.close()
    lines = [line for line in lines if line.seed in seed]
    found, adaptation = suite.rows(lines), suite.adaptation(lines)
    if as_json:
        report = {
            "command": machine.command(["planweave", *sys.argv[1:]]),
            "date": datetime.now(UTC).date().isoformat(),
            "machine": machine.machine(),
            "commit": machine.commit(),
            "environment": environment,
            "paths": len(given),
            "seeds": seed,
            "adaptation": adaptation,
            "result": [row._asdict() for row in found],
        }
        typer.echo(json.dumps(report, indent=1))
        return
    for table in suite.tables(found):
        drawn = RichTable(title=table.title, title_justify="left", box=None)
        for name in table.columns:
            drawn.add_column(name)
        for row in table.rows:
            drawn.add_row(*(text(cell) for cell in row))
        console.print(drawn)
        console.print(table.note, style="dim", markup=False)
    if adaptation:
        console.print(
            f"Adapting to a task: {adaptation['median_seconds']:.1f} s, of the processor "
            f"{adaptation['median_cpu_seconds']:.1f} s (median of {adaptation['tasks']} tasks)."
        )
