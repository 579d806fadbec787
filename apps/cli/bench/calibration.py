"""``planweave bench abstention`` and ``refusal``: calibrate the thresholds of answers."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from planweave import BadInput
from planweave.apps.cli.bench.common import publish
from planweave.apps.options import AsJson, Model, writable
from planweave.apps.plain import print_line
from planweave.benchmarks.core.metrics import group_by_method
from planweave.benchmarks.core.options import published_folder
from planweave.benchmarks.core.store import read_all
from planweave.benchmarks.suites.query_writing import abstention as abstaining
from planweave.benchmarks.suites.query_writing import refusal as refusing
from planweave.benchmarks.suites.query_writing.question import load


def abstention(
    files: Annotated[
        list[Path], typer.Argument(help="Result files with confidences; they are merged.")
    ],
    target: Annotated[
        float, typer.Option(help="Accepted share of wrong answers.", min=0.001, max=0.999)
    ] = 0.1,
    confidence: Annotated[
        float, typer.Option(help="Confidence of this share.", min=0.5, max=0.999)
    ] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the half that calibrates.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for the table and the plot.")] = None,
    as_json: AsJson = False,
) -> None:
    """Coverage against error, and the threshold for a target, from result files."""
    console = Console(stderr=as_json, highlight=False)
    if out:
        writable(out)
    results = read_all(files, partial(print_line, console))
    groups = {
        name: abstaining.confidence_points(records)
        for name, records in group_by_method(list(results.records.values())).items()
    }
    groups = {name: points for name, points in groups.items() if any(p.answered for p in points)}
    if not groups:
        raise BadInput(
            "No result in these files has a confidence.",
            fix="Measure a mode that has one, such as guided.",
        )
    find = partial(abstaining.find_threshold, target=target, confidence=confidence)
    found = {name: abstaining.calibrate(points, find, seed) for name, points in groups.items()}
    meaning = (
        f"The smallest threshold at which the error is at most {target:.0%} with {confidence:.0%} "
        "confidence (fixed-sequence testing with exact binomial limits)"
    )
    tables = [
        abstaining.calibration_table(found, meaning, confidence),
        abstaining.curves_table(groups),
    ]
    drawing = partial(abstaining.draw_curves, groups, found, target)
    publish("Abstention", tables, console, as_json=as_json, out=out, draw=drawing)


def refusal(
    data: Annotated[
        Path | None, typer.Option(help="Folder of the questions; see PLANWEAVE_PUBLISHED.")
    ] = None,
    model: Model = "embedded",
    target: Annotated[
        float,
        typer.Option(help="Highest share of answerable questions to refuse.", min=0.001, max=0.999),
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of the half that calibrates.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as Markdown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Calibrate the setting least_answerable on questions with and without an answer."""
    console = Console(stderr=as_json, highlight=False)
    if out:
        writable(out)
    questions = load(data or published_folder("text2sql"))
    with Progress(console=console) as progress:
        task = progress.add_task("questions", total=len(questions))
        found = asyncio.run(
            refusing.measure_chances(questions, model, lambda: progress.advance(task))
        )
    find = partial(refusing.find_threshold, target=target)
    calibrated = abstaining.calibrate(found, find, seed)
    tables = refusing.refusal_tables(model, found, calibrated, target)
    publish("Refusal", tables, console, as_json=as_json, out=out)
