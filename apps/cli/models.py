"""``planweave models``: the weights of embedded models."""

from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

EXAMPLES = """\
planweave models list

planweave models pull 0.5b
"""

app = typer.Typer(no_args_is_help=True)


@app.callback()
def models() -> None:
    """List embedded models, and download their weights."""


@app.command("pull")
def pull_command(
    model: Annotated[
        str, typer.Argument(help="0.5b, 1.5b, minilm or the path of a .gguf file.")
    ] = "1.5b",
) -> None:
    """Download and check the weights of a model, unless they exist."""
    from planweave.models.weights import pull

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), transient=True) as progress:
        task = progress.add_task("looking", total=None)

        def show(what: str, done: int, total: int) -> None:
            progress.update(task, description=what, completed=done, total=total)

        path = pull(model, show)
    typer.echo(f"The weights are in {path}.")


@app.command("list")
def list_command() -> None:
    """List the embedded models, and where their weights are."""
    from planweave.models import ModelUnavailable
    from planweave.models.weights import EMBEDDINGS, KNOWN, find

    for files in (*zip(KNOWN.values(), strict=True), *EMBEDDINGS.values()):
        try:
            where, *others = (find(file) for file in files)
            shown = str(where.parent if others else where)
        except ModelUnavailable as error:
            shown = error.problem if error.trouble != "missing" else "not on this machine"
        megabytes = sum(file.size for file in files) / 1e6
        typer.echo(f"{files[0].model:<14}  {megabytes:>7.1f} MB  {shown}")
