"""The command line: ``planweave COMMAND``. Each command lives in a module of its own."""

import errno
import sys

import typer
from rich.console import Console

from planweave import PlanweaveError, __version__

app = typer.Typer(
    name="planweave",
    help="Agents that plan first and retrieve after.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"planweave {__version__}")
        raise typer.Exit


@app.callback()
def planweave(
    version: bool = typer.Option(False, "--version", callback=_version, help="Show the version."),
) -> None:
    """Agents that plan first and retrieve after."""


def main() -> None:
    """Run the command line; an error a person can mend is one sentence and its exit code."""
    from apps import commands  # noqa: F401  (each module adds its command to the app)

    try:
        app()
    except PlanweaveError as error:
        _fail(str(error), error.exit_code)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _fail("The disk is full. Free some space and run the same command again.", 1)


def _fail(text: str, exit_code: int) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[bold red]Error:[/] ", end="")
    print(text, file=sys.stderr)  # noqa: T201 (plain: a path may hold square brackets)
    sys.exit(exit_code)
