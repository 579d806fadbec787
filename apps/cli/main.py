"""The command line: ``planweave COMMAND``. Each command lives in a module of its own."""

import errno
import os
import sys
from importlib import import_module
from types import ModuleType

import typer

from planweave import PlanweaveError, __version__
from planweave.apps.plain import plain

app = typer.Typer(
    name="planweave",
    help="Agents that plan first and retrieve after.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

COMMANDS = {
    "decide": "Answer a decision question: plan, queries and facts as they come, then the "
    "decision.",
    "ask": "Answer a question from documents or a database: plan and facts as they come, then the "
    "answer.",
    "act": "Solve a task of an environment, action by action (docs/instruct-rag.md).",
    "reproduce": "Run what makes a table of one of the papers; without one, list them.",
    "query": "Run one query read-only. Refused: exit 2. Too long: exit 3. Failed: exit 4.",
    "methods": "List the methods.",
    "settings": "List the settings of a run: --setting NAME=VALUE sets them.",
    "doctor": "Check what a run needs; exit code 1 if something required is missing.",
    "serve": "Serve every method over HTTP: threads, runs, streams, memory (docs/operations.md).",
    "arena": "Compare texts two by two, blind; then skill and win rate of each method. Can be "
    "resumed.",
    "mcp": "Serve the methods as MCP tools on standard input; options go before PLANWEAVE_SERVICE.",
}
GROUPS = {
    "bench": "Measure methods on a benchmark.",
    "docs": "The documents that answers are drawn from.",
    "dqa": "The published Decision QA data set.",
    "experience": "Paths of instructions that were carried out; those that succeeded guide later "
    "runs.",
    "learn": "Learn from the successes of simulated decisions.",
    "models": "Weights of the models in this process.",
    "results": "The records behind the reports in results/.",
    "runs": "List what was asked before; show or remove a run.",
    "terms": "Abbreviations learned from documents; only confirmed ones are used again.",
    "train": "Train what ships trained.",
}
"""The modules of this folder that hold a command or a group of them under their name, and what the
list of commands says of each: to import them all would take longer than most commands."""
PANELS = {
    "Use": ("ask", "decide", "act", "query", "docs", "runs"),
    "Serve": ("serve", "mcp"),
    "Measure": ("bench", "reproduce", "arena", "dqa", "results"),
    "Learn": ("learn", "train", "experience", "terms"),
    "Set up": ("models", "methods", "settings", "doctor"),
}
"""The headings under which the list shows them."""

_LINES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Where shells put the line that is to be completed: bash, and the others."""


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"planweave {__version__}")
        raise typer.Exit


@app.callback()
def planweave(
    version: bool = typer.Option(False, "--version", callback=_version, help="Show the version."),
) -> None:
    """Agents that plan first and retrieve after."""


def _listed() -> None:
    """A command that is only named."""


def _epilog(module: ModuleType) -> str | None:
    """The examples of a command, below its help."""
    examples = getattr(module, "EXAMPLES", None)
    return f"Examples:\n\n{examples}" if examples else None


def _words() -> list[str]:
    """The words of the command line, or of the one that a shell asks us to complete."""
    if "_PLANWEAVE_COMPLETE" not in os.environ:
        return sys.argv
    return next((os.environ[name].split() for name in _LINES if name in os.environ), [])


def main() -> None:
    """Run the command line; an error that a person can fix is one sentence and an exit code."""
    listed = {**COMMANDS, **GROUPS}
    asked = [name for name in _words()[1:2] if name in listed]
    for name in asked:
        module = import_module(f"planweave.apps.cli.{name}")
        if name in COMMANDS:
            app.command(name, epilog=_epilog(module))(getattr(module, name))
        else:
            app.add_typer(module.app, name=name, epilog=_epilog(module))
    if not asked:
        for panel, names in PANELS.items():
            for name in names:
                app.command(name, help=listed[name], rich_help_panel=panel)(_listed)
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
