"""``planweave bench refusal``: which questions does a database have no answer to?"""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from planweave.apps.cli.bench.common import publish
from planweave.apps.options import AsJson, Model, output_folder
from planweave.benchmarks.core.options import published
from planweave.benchmarks.suites.query_writing import refusal as refusing
from planweave.benchmarks.suites.text2sql.load import load


def refusal(
    data: Annotated[
        Path | None, typer.Option(help="Folder of the questions; see PLANWEAVE_PUBLISHED.")
    ] = None,
    model: Model = "embedded",
    target: Annotated[
        float,
        typer.Option(help="Share of answerable questions to refuse at most.", min=0.001, max=0.999),
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Which half of the questions calibrates.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as Markdown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Calibrates the setting least_answerable on questions with and without an answer."""
    console = Console(stderr=as_json, highlight=False)
    if out:
        output_folder(out)
    questions = load(data or published("text2sql"))
    with Progress(console=console) as progress:
        task = progress.add_task("questions", total=len(questions))
        found = asyncio.run(refusing.scored(questions, model, lambda: progress.advance(task)))
    calibrated = refusing.calibrate(found, target=target, seed=seed)
    tables = refusing.tables(found, calibrated, target)
    publish("Refusal", tables, console, as_json=as_json, out=out)
