"""``planweave bench abstention``: from which confidence on are answers to be trusted?"""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from planweave import BadInput
from planweave.apps.cli.bench.common import publish
from planweave.apps.options import AsJson, output_folder
from planweave.apps.plain import print_line
from planweave.benchmarks.core.metrics import grouped
from planweave.benchmarks.core.store import merged
from planweave.benchmarks.suites.query_writing import abstention as abstaining


def abstention(
    files: Annotated[
        list[Path], typer.Argument(help="Result files that hold confidences, taken together.")
    ],
    target: Annotated[
        float, typer.Option(help="Share of wrong answers that is accepted.", min=0.001, max=0.999)
    ] = 0.1,
    confidence: Annotated[
        float, typer.Option(help="Confidence that it is kept.", min=0.5, max=0.999)
    ] = 0.95,
    seed: Annotated[int, typer.Option(help="Which half of the questions calibrates.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for the table and the plot.")] = None,
    as_json: AsJson = False,
) -> None:
    """Coverage against error, and the threshold that holds a target, from result files alone."""
    console = Console(stderr=as_json, highlight=False)
    if out:
        output_folder(out)
    results = merged(files, partial(print_line, console))
    groups = {
        name: abstaining.points_of(records)
        for name, records in grouped(list(results.records.values())).items()
    }
    groups = {name: points for name, points in groups.items() if any(p.answered for p in points)}
    if not groups:
        raise BadInput(
            "No result in these files has a confidence.",
            fix="Measure a mode that gives one, such as guided.",
        )
    found = {
        name: abstaining.calibrate(points, target=target, confidence=confidence, seed=seed)
        for name, points in groups.items()
    }
    tables = [
        abstaining.calibration_table(found, target=target, confidence=confidence),
        abstaining.curves_table(groups),
    ]
    drawing = partial(abstaining.draw, groups, found, target)
    publish("Abstention", tables, console, as_json=as_json, out=out, draw=drawing)
