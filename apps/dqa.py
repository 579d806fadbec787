"""``planweave dqa``: fetch the published Decision QA data set, recompute its annotations."""

import typer

app = typer.Typer(help="The published Decision QA data set.", no_args_is_help=True)


@app.callback()
def dqa() -> None:
    """The published Decision QA data set."""
