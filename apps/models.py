"""``planweave models``: the weights of the embedded models."""

from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from models.weights import DEFAULT, pull

app = typer.Typer(help="Weights of the embedded models.", no_args_is_help=True)


@app.callback()
def models() -> None:
    """Weights of the embedded models."""


@app.command("pull")
def pull_command(
    model: Annotated[str, typer.Argument(help="0.5b, 1.5b or the path of a .gguf file.")] = DEFAULT,
) -> None:
    """Fetch and check the weights of an embedded model, unless they are there already."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, transient=True) as progress:
        task = progress.add_task("looking", total=None)

        def show(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total)

        path = pull(model, show)
    typer.echo(f"The weights are in {path}.")
