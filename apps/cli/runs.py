"""``planweave runs``: list, show or remove earlier runs."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
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
    checkpoints,
    delete_thread,
    is_kept,
    load_thread,
    memory_of,
    newest_files,
    read_memory,
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
class SavedRun:
    """A run in the list; ``verdict`` is empty before its end."""

    thread: str
    when: str
    method: str
    question: str
    verdict: str


@app.callback(invoke_without_command=True)
def runs(context: typer.Context) -> None:
    """List, show or remove earlier runs."""
    if context.invoked_subcommand is None:
        list_runs()


@app.command("list")
def list_runs(
    *,
    limit: Annotated[int, typer.Option(help="Maximum of runs, newest first.", min=1)] = 20,
    as_json: AsJson = False,
) -> None:
    """List the runs: question, method, verdict, time."""
    files = newest_files()
    found = asyncio.run(_read_runs(files[:limit])) if files else []
    if as_json:
        typer.echo(json_text([asdict(one) for one in found]))
        return
    console = Console(highlight=False)
    if not found:
        console.print("No runs yet. Start one: planweave ask --help")
        return
    table = Table("thread", "when (UTC)", "method", "verdict", "question", box=None)
    for one in found:
        cells = (one.thread, one.when, one.method, one.verdict or "not finished", one.question)
        table.add_row(*(Text(plain(cell), overflow="ellipsis", no_wrap=True) for cell in cells))
    console.print(table)
    if len(files) > limit:
        console.print(f"{len(files) - limit} more: --limit {len(files)}")


@app.command("show")
def show(
    thread: Annotated[
        str,
        typer.Argument(help="Name of the thread in the list.", autocompletion=completion.threads),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Show plan, facts and answer of a run."""
    from planweave.apps.cli.story import Story
    from planweave.graphs.support.events import FactEvent, PlanEvent

    saved = load_thread(thread)
    memory = read_memory(saved.id)
    if as_json:
        fields = ("question", "plan", "facts", "turns", "answer", "claims", "failures")
        typer.echo(json_text({name: memory.get(name) for name in fields}))
        return
    console = Console(highlight=False)
    console.print(Text(plain(memory.get("question", "(no question)")), style="italic"))
    story = Story(console)
    if plan := memory.get("plan"):
        story.show(PlanEvent(steps=plan))
    for fact in memory.get("facts", ()):
        story.show(FactEvent(fact=fact))
    messages = memory.get("messages", [])
    if memory.get("answer") or (messages and messages[-1].type == "ai"):
        story.finish(memory, in_words=saved.context.in_words)
    else:
        command = "act" if saved.context.environment else "ask"
        console.print(f"Not finished. Resume with: planweave {command} --resume {saved.id}")


@app.command("remove")
def remove(
    threads: Annotated[
        list[str],
        typer.Argument(help="Names of threads in the list.", autocompletion=completion.threads),
    ],
) -> None:
    """Remove runs with all their data."""
    if missing := [thread for thread in threads if not is_kept(thread)]:
        raise BadInput(
            f"There is no thread {missing[0]!r}; nothing was removed.", fix="See `planweave runs`."
        )
    for thread in (names := dict.fromkeys(threads)):
        asyncio.run(delete_thread(thread))
    typer.echo(f"Removed: {len(names)}")


async def _read_runs(files: Iterable[Path]) -> list[SavedRun]:
    async with checkpoints() as saver:
        return [_saved_run(file, await memory_of(file.stem, saver)) for file in files]


def _saved_run(file: Path, memory: "WorkingMemory") -> SavedRun:
    """Make the entry of a run from its settings file and its working memory."""
    try:
        method = str(json.loads(file.read_text(encoding="utf-8"))["method"])
    except (ValueError, KeyError, TypeError):
        method = "(damaged)"
    answer = memory.get("answer")
    verdict = answer.get("verdict") if answer else None
    return SavedRun(
        thread=file.stem,
        when=datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d %H:%M"),
        method=method,
        question=memory.get("question", ""),
        verdict=verdict["kind"].replace("_", " ") if verdict else "answered" if answer else "",
    )
