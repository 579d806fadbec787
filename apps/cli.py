"""The command line: ``planweave COMMAND``. Each command lives in a module of its own."""

import errno
import os
import sys
from importlib import import_module

import typer

from planweave import PlanweaveError, __version__
from planweave.apps.plain import plain

app = typer.Typer(
    name="planweave",
    help="Agents that plan first and retrieve after.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

COMMANDS = (
    *("decide", "ask", "act", "query", "methods", "settings", "doctor"),
    *("serve", "arena", "mcp"),
)
GROUPS = (
    "bench",
    "docs",
    "dqa",
    "experience",
    "learn",
    "models",
    "results",
    "runs",
    "terms",
    "train",
)
"""The modules of this folder that hold a command or a group of them under their name."""


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
    """Run the command line; an error that a person can mend is one sentence and an exit code."""
    known = (*COMMANDS, *GROUPS)
    asked = [name for name in sys.argv[1:2] if name in known]
    for name in asked or known:  # importing the others would take longer than most commands
        module = import_module(f"planweave.apps.{name}")
        if name in COMMANDS:
            app.command(name)(getattr(module, name))
        else:
            app.add_typer(module.app, name=name)
    try:
        app()
    except PlanweaveError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:  # the reader of our output is gone, as in `planweave … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if not _is_disk_full(error):
            raise
        _fail("The disk is full. Free some space and run the same command again.", 1)


def _is_disk_full(error: Exception) -> bool:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return full or "database or disk is full" in str(error)


def _fail(text: str, exit_code: int) -> None:
    typer.secho("Error: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
    typer.echo(plain(text), err=True)
    sys.exit(exit_code)
