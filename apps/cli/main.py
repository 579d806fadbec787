"""The command line ``planweave COMMAND``; each command is in the module of its name."""

import errno
import os
import signal
import sys
from contextlib import suppress

import typer

from planweave import PlanweaveError, __version__
from planweave.apps.cli.lazily import Home, lazy
from planweave.apps.plain import plain

_PANELS = {
    "Use": ("ask", "decide", "act", "query", "docs", "runs"),
    "Serve": ("serve", "mcp"),
    "Measure": ("bench", "reproduce", "arena", "dqa", "results"),
    "Learn": ("learn", "train", "experience", "terms"),
    "Set up": ("models", "methods", "settings", "doctor"),
}
"""The commands by their heading in the help."""
COMMANDS = {
    name: Home(f"planweave.apps.cli.{name}", name, panel=panel)
    for panel, names in _PANELS.items()
    for name in names
}


def _print_version(is_set: bool) -> None:
    if is_set:
        typer.echo(f"planweave {__version__}")
        raise typer.Exit


def planweave(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, help="Show the version."
    ),
) -> None:
    """Agents that plan first and retrieve after."""


app = lazy(planweave, COMMANDS, name="planweave", pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line; print an error that a person can fix, and exit with its code."""
    with suppress(ValueError):  # outside the main thread
        signal.signal(signal.SIGTERM, _interrupt)
        closed = getattr(signal, "SIGHUP", None)  # when the terminal is closed
        if closed and signal.getsignal(closed) is signal.SIG_DFL:  # otherwise set by nohup
            signal.signal(closed, _interrupt)
    try:
        app()
    except PlanweaveError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:  # the reader of the output has ended, as in `planweave … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if not _is_disk_full(error):
            raise
        _fail("The disk is full. Free some space and run the same command again.", 1)


def _interrupt(number: int, frame: object) -> None:
    """End as after Ctrl-C: report what is saved, and remove temporary files."""
    del number, frame
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def _is_disk_full(error: Exception) -> bool:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return full or "database or disk is full" in str(error)


def _fail(text: str, exit_code: int) -> None:
    typer.secho("Error: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
    typer.echo(plain(text), err=True)
    sys.exit(exit_code)
