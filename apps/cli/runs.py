"""``planweave runs``: what was asked before, to look at again or to remove."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from planweave import BadInput
from planweave.apps import completion
from planweave.apps.options import AsJson
from planweave.apps.plain import json_text, plain
from planweave.apps.threads import (
    being_worked_on,
    checkpoints,
    load_thread,
    memory_now,
    memory_of,
    newest,
    threads_folder,
)

if TYPE_CHECKING:
    from planweave.memory import WorkingMemory

EXAMPLES = """\
planweave runs

planweave runs show THREAD

planweave runs remove THREAD
"""

app = typer.Typer()


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A run as the list shows it; ``verdict`` is empty before its end."""

    thread: str
    when: str
    method: str
    question: str = ""
    verdict: str = ""


@app.callback(invoke_without_command=True)
def runs(context: typer.Context) -> None:
    """List what was asked before; show or remove a run."""
    if context.invoked_subcommand is None:
        list_runs()


@app.command("list")
def list_runs(
    *,
    limit: Annotated[int, typer.Option(help="Runs at most, the newest first.", min=1)] = 20,
    as_json: AsJson = False,
) -> None:
    """List the runs: question, method, verdict, when."""
    files = newest()
    kept = asyncio.run(_with_memory([_line(file) for file in files[:limit]]))
    if as_json:
        typer.echo(json_text([asdict(one) for one in kept]))
        return
    console = Console(highlight=False)
    if not kept:
        console.print("No runs yet. Start one: planweave ask --help")
        return
    table = Table("thread", "when (UTC)", "method", "verdict", "question", box=None)
    for one in kept:
        cells = (one.thread, one.when, one.method, one.verdict or "not finished", one.question)
        table.add_row(*(Text(plain(cell), overflow="ellipsis", no_wrap=True) for cell in cells))
    console.print(table)
    if len(files) > limit:
        console.print(f"{len(files) - limit} more: --limit {len(files)}")


@app.command("show")
def show(
    thread: Annotated[
        str,
        typer.Argument(help="The name that the list shows.", autocompletion=completion.threads),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Show what a run came to: plan, facts and answer."""
    from planweave.apps.cli.story import Story

    found = load_thread(thread, {})
    memory = memory_now(found.id)
    if as_json:
        kept = ("question", "plan", "facts", "turns", "answer", "claims", "failures")
        typer.echo(json_text({name: memory.get(name) for name in kept}))
        return
    console = Console(highlight=False)
    console.print(Text(plain(memory.get("question", "(no question)")), style="italic"))
    Story(console).finish(memory, in_words=found.context.in_words)


@app.command("remove")
def remove(
    threads: Annotated[
        list[str],
        typer.Argument(help="Names that the list shows.", autocompletion=completion.threads),
    ],
) -> None:
    """Remove runs with all that they have read."""
    files = [threads_folder() / f"{Path(thread).name}.json" for thread in threads]
    if missing := [file.stem for file in files if not file.is_file()]:
        raise BadInput(
            f"There is no thread {missing[0]!r}; nothing was removed.",
            fix="See `planweave runs`.",
        )
    for file in files:
        with being_worked_on(file.stem):
            asyncio.run(_forget(file.stem))
            file.unlink()
    typer.echo(f"Removed: {len(files)}")


def _line(file: Path) -> Kept:
    """What the thread's file says of a run."""
    try:
        method = str(json.loads(file.read_text(encoding="utf-8"))["method"])
    except (ValueError, KeyError, TypeError):
        method = "(damaged)"
    when = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M")
    return Kept(thread=file.stem, when=when, method=method)


async def _with_memory(kept: Sequence[Kept]) -> list[Kept]:
    """The lines with what the working memory of each run says."""
    async with checkpoints() as saver:
        return [_told(one, await memory_of(one.thread, saver)) for one in kept]


def _told(kept: Kept, memory: "WorkingMemory") -> Kept:
    answer = memory.get("answer")
    verdict = answer.get("verdict") if answer else None
    return replace(
        kept,
        question=memory.get("question", ""),
        verdict=verdict["kind"].replace("_", " ") if verdict else "answered" if answer else "",
    )


async def _forget(thread: str) -> None:
    async with checkpoints() as saver:
        await saver.adelete_thread(thread)
