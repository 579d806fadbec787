"""``planweave bench report`` and ``publish``: report results, and prepare them for others."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from planweave import BadInput
from planweave.apps.cli.bench.common import Log, print_report
from planweave.apps.options import AsJson
from planweave.benchmarks.core.record import without_texts
from planweave.benchmarks.core.store import ResultFile, read


def report(
    files: Annotated[list[Path], typer.Argument(help="Result files; they are merged.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the report as Markdown.")] = None,
    log: Log = None,
    as_json: AsJson = False,
) -> None:
    """Make the report from result files."""
    console = Console(stderr=as_json, highlight=False)
    print_report(files, console, as_json=as_json, folder=out, log=log)


def publish(
    file: Annotated[Path, typer.Argument(help="A result file.")],
    out: Annotated[Path, typer.Option(help="The result file to write; it must not exist.")],
) -> None:
    """Copy a result file without prompts and pages; questions and replies stay."""
    results = read(file)
    if out.exists():
        raise BadInput(f"There is a file {out} already.", fix="Choose another name for --out.")
    copy = ResultFile(out, typer.echo)
    try:
        for run in results.runs:
            copy.append(run)
        for record in results.records.values():
            copy.append(without_texts(record))
    finally:
        copy.close()
    typer.echo(f"Written: {out} ({len(results.records)} records without prompts and pages)")
