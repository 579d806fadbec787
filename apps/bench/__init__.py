"""``planweave bench``: measure methods on a benchmark, and read what was measured."""

import typer

from apps.bench.dqa import dqa
from apps.bench.report import report

app = typer.Typer(help="Measure methods on a benchmark.", no_args_is_help=True)
for command in (dqa, report):
    app.command()(command)
