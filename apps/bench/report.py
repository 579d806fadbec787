"""``planweave bench report``: read what was measured."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from apps.bench.common import AsJson, tell_report


def report(
    files: Annotated[list[Path], typer.Argument(help="Result files, taken as one.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report as Markdown and PNG.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rebuild the report from result files alone."""
    tell_report(files, Console(stderr=as_json, highlight=False), as_json=as_json, folder=out)
