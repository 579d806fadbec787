"""``planweave reproduce``: run the commands behind a table of a paper."""

import shlex
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from planweave import BadInput
from planweave.benchmarks import reproduction
from planweave.benchmarks.reproduction import PaperTable

EXAMPLES = """\
planweave reproduce

planweave reproduce planrag --table 4 --limit 5
"""


def reproduce(
    paper: Annotated[
        str, typer.Argument(help="Name of the paper; all tables are listed if unset.")
    ] = "",
    *,
    table: Annotated[
        str, typer.Option(help="Number of the table; all that can be run if unset.")
    ] = "",
    limit: Annotated[
        int | None,
        typer.Option(
            help="Maximum of questions, tasks, runs or trials, except for commands on a whole set; "
            "the table's own number if unset.",
            min=1,
        ),
    ] = None,
    data: Annotated[
        Path,
        typer.Option(
            help="Folder with the published files, see docs/reproduction.md.",
            envvar="PLANWEAVE_PUBLISHED",
        ),
    ] = Path("data"),
    model: Annotated[
        str, typer.Option(help="Chat model; that of the table's commands (--dry-run) if unset.")
    ] = "",
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path(
        "results/reproduction"
    ),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the commands.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the page docs/reproduction.md.")
    ] = False,
) -> None:
    """Run the commands behind a table of a paper; without a paper, list the tables."""
    if markdown:
        typer.echo(reproduction.page(), nl=False)
        return
    if not paper:
        _print_tables()
        return
    chosen = reproduction.paper(paper).choose_tables(table)
    if not any(one.runs for one in chosen):
        typer.echo(f"Table {table} has nothing to run: {chosen[0].differs}")
        return
    if limit and not any("{limit}" in run for one in chosen for run in one.runs):
        raise BadInput("This table is measured on the whole set.", fix="Leave out --limit.")
    if not dry_run and not data.is_dir():
        raise BadInput(
            f"There is no folder {data}.", fix="Name the published files with --data FOLDER."
        )
    for command in reproduction.commands(chosen, data=data, out=out, limit=limit, model=model):
        typer.echo(f"planweave {command}", err=not dry_run)
        if not dry_run:
            _run_command(command)
    for one in () if dry_run else chosen:
        _print_comparison(one)


def _run_command(command: str) -> None:
    began = perf_counter()
    words = [sys.executable, "-m", "planweave", *shlex.split(command)]
    done = subprocess.run(words, check=False)  # noqa: S603 - our own commands, without a shell
    typer.echo(f"{perf_counter() - began:.0f} s", err=True)
    if done.returncode:
        raise typer.Exit(done.returncode)


def _print_comparison(one: PaperTable) -> None:
    """Print our result and the paper's, to compare with the new one."""
    typer.echo(f"Table {one.table}, {one.shows}")
    typer.echo(f"  ours, {one.sample}: {one.ours}" if one.ours else "  not measured by us")
    typer.echo(f"  the paper: {one.theirs or '-'}")
    typer.echo(f"  what differs: {one.differs}")


def _print_tables() -> None:
    shown = Table("paper", "table", "shows", "runs", box=None)
    for paper in reproduction.papers():
        for one in paper.tables:
            runs = "with a model" if one.asks_model else "without a model"
            shown.add_row(paper.name, one.label, one.shows, runs if one.runs else "nothing")
    Console(highlight=False).print(shown, markup=False)
