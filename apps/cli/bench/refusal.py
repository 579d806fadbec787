"""``planweave bench refusal``: which questions does a database have no answer to?"""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from planweave import BadInput
from planweave.apps.cli.bench.common import AsJson
from planweave.benchmarks.core.options import published
from planweave.benchmarks.core.report import show_tables, table_json, table_markdown
from planweave.benchmarks.suites import text2sql as sql_suite
from planweave.benchmarks.suites.query_writing import refusal as refusing


def refusal(
    data: Annotated[
        Path | None, typer.Option(help="Folder of the questions; see PLANWEAVE_PUBLISHED.")
    ] = None,
    target: Annotated[
        float, typer.Option(help="Share of answerable questions to refuse at most.", min=0.001)
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Which half of the questions calibrates.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for the table and the plot.")] = None,
    as_json: AsJson = False,
) -> None:
    """Calibrates the setting most_unlinked on questions with and without an answer; no model."""
    console = Console(stderr=as_json, highlight=False)
    questions = refusing.scored(sql_suite.load(data or published("text2sql")))
    found = refusing.calibrate(questions, target=target, seed=seed)
    tables = refusing.tables(questions, found, target)
    if out:
        _write(out, "\n\n".join(["# Refusal", *map(table_markdown, tables)]) + "\n")
        try:
            from matplotlib.figure import Figure
        except ImportError:
            console.print("No plot: matplotlib is not installed.")
        else:
            figure = Figure()
            refusing.draw(questions, found, target, figure)
            figure.savefig(out / "refusal.png", dpi=150, bbox_inches="tight")
        console.print(f"Written: {out}", markup=False, soft_wrap=True)
    if as_json:
        typer.echo(json.dumps({"tables": [table_json(table) for table in tables]}, indent=2))
    else:
        show_tables(tables, console)


def _write(folder: Path, page: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "refusal.md").write_text(page, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{folder} cannot be written ({error.strerror}).") from None
