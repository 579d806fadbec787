"""``planweave dqa``: fetch the published Decision QA data set, and describe it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress
from rich.table import Table

from planweave.apps.options import AsJson

EXAMPLES = """\
planweave dqa download data/

planweave dqa stats --path data/planrag-*.zip
"""

app = typer.Typer(no_args_is_help=True)

_STATISTICS = ("questions", "rows", "columns", "edges", "vertices")


@app.callback()
def dqa() -> None:
    """The published Decision QA data set."""


@app.command()
def stats(
    *,
    path: Annotated[
        Path, typer.Option("--path", "--data", help="A clone, folder or archive of the data set.")
    ],
    as_json: AsJson = False,
) -> None:
    """How large the databases are (PlanRAG, tables 3 and 8)."""
    from planweave.simulators.published import load_dataset
    from planweave.simulators.statistics import statistics

    found = [asdict(one) for one in statistics(load_dataset(path))]
    if as_json:
        typer.echo(json.dumps({"origin": path.name, "scenarios": found}, indent=2))
        return
    table = Table("scenario", *_STATISTICS, box=None)
    for one in found:
        table.add_row(one["scenario"], *(f"{one[name]:.6g}" for name in _STATISTICS))
    Console(highlight=False).print(table)


@app.command()
def download(
    destination: Annotated[Path, typer.Argument(help="Folder for the archive.")],
    commit: Annotated[
        str, typer.Option(help="Commit, branch or tag; the one that was checked if unset.")
    ] = "",
) -> None:
    """Fetch the data set (MIT licence); the exact commit is recorded beside the archive."""
    from planweave.simulators.published import COMMIT
    from planweave.simulators.published import download as fetch

    with Progress("fetching", BarColumn(), DownloadColumn(), transient=True) as bar:
        task = bar.add_task("fetching", total=None)
        path = fetch(
            destination,
            commit or COMMIT,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    typer.echo(f"The data set is in {path}.")
