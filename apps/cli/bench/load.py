"""``planweave bench load``: how many runs a server carries, beside a bare LangGraph loop."""

import asyncio
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from planweave import BadInput
from planweave.apps.cli.bench.common import AsJson, Out
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.report import show_tables, table_markdown
from planweave.benchmarks.core.table import Table
from planweave.benchmarks.load import kills as load_kills
from planweave.benchmarks.load import measure as suite
from planweave.benchmarks.load import page as load_page
from planweave.benchmarks.load.processes import scripted_model, served
from planweave.redact import without_passwords

_PACKAGES = ("greenlet", "orjson", "prometheus_client", "scipy", "starlette", "uvicorn")


@dataclass(frozen=True, kw_only=True)
class Load:
    """What is measured; its fields are options of the command."""

    storage: Annotated[
        str, typer.Option(help="sqlite, or the URL of an empty PostgreSQL database.")
    ] = "sqlite"
    workers: Annotated[int, typer.Option(help="Processes of the server.", min=1)] = 1
    jobs: Annotated[int, typer.Option(help="Runs at once in each of them.", min=1)] = 32
    concurrency: Annotated[
        str, typer.Option(help="Users who ask at once, with commas between.")
    ] = "1,16,64,256"
    latency: Annotated[
        str, typer.Option(help="Milliseconds that the model waits, with commas between.")
    ] = "0,500"
    runs: Annotated[
        int, typer.Option(help="Runs of each load; never fewer than two for each user.", min=1)
    ] = 128
    seconds: Annotated[
        float, typer.Option(help="A load begins no more runs than those two after that.", min=0)
    ] = 25
    soak: Annotated[
        float,
        typer.Option(help="Minutes of one load instead: the most users, the first latency.", min=0),
    ] = 0
    kills: Annotated[
        int,
        typer.Option(
            help="Kill a worker so often instead, in the middle of runs of the most users.", min=0
        ),
    ] = 0
    page: Annotated[
        int,
        typer.Option(
            help="Open the page so often instead, in Chromium: first useful pixel, first token.",
            min=0,
        ),
    ] = 0

    def __post_init__(self) -> None:
        self.users, self.latencies  # noqa: B018 - a wrong list is refused before anything starts

    @property
    def users(self) -> list[int]:
        """How many ask at once, the fewest first."""
        return _numbers(self.concurrency, least=1)

    @property
    def latencies(self) -> list[int]:
        """Milliseconds that the model waits, the fewest first."""
        return _numbers(self.latency, least=0)

    @property
    def kind(self) -> str:
        """What is measured, as the result file is named."""
        if self.page:
            return "page"
        return "kills" if self.kills else "soak" if self.soak else "load"


@dataclass(kw_only=True)
class _Found:
    """What was measured so far."""

    levels: list[suite.Level] = field(default_factory=list)
    soak: suite.Soak | None = None
    rounds: list[load_kills.Round] = field(default_factory=list)
    seen: list[load_page.Seen] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.levels or self.soak or self.rounds or self.seen)


@grouped()
def load(*, asked: Load, out: Out = Path("results/load"), as_json: AsJson = False) -> None:
    """Load `planweave serve` with runs whose model answers from a script, beside a bare loop."""
    if missing := [name for name in _PACKAGES if not find_spec(name)]:
        raise BadInput(
            f"The package {missing[0]} is not installed.",
            fix='Run: pip install "planweave[bench,serve]".',
        )
    os.environ["PLANWEAVE_RESPONSE_CACHE"] = "off"  # else the model would be asked only once
    console = Console(stderr=as_json, highlight=False)
    interrupted, found = False, _Found()
    try:
        _measure(asked, found, console)
    except KeyboardInterrupt:
        interrupted = True
        console.print("Interrupted. What was measured is kept.")
    if found.anything:
        _tell(asked, found, out, console, as_json=as_json)
    if interrupted:
        raise typer.Exit(130)


def _numbers(words: str, *, least: int) -> list[int]:
    try:
        numbers = sorted({int(word) for word in words.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < least:
        raise BadInput(
            f"{words!r} is no list of whole numbers of at least {least}.",
            fix="Write commas between them: 1,16,64.",
        )
    return numbers


def _measure(asked: Load, found: _Found, console: Console) -> None:
    """Start the server and the model, and measure one load after another."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with (
        tempfile.TemporaryDirectory(prefix="planweave-load-") as place,
        Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar,
        scripted_model() as model,
    ):
        folder = Path(place)
        suite.write_database(folder / "locating.sqlite")
        starting = bar.add_task("starting", total=None)
        with served(
            folder, storage=asked.storage, workers=asked.workers, jobs=asked.jobs
        ) as server:

            async def measure() -> None:
                async with suite.client() as client:
                    for latency in asked.latencies[: None if asked.kind == "load" else 1]:
                        name = f"{model}/{latency}/v1#scripted"
                        sides = suite.Sides(client, server, name, folder / "locating.sqlite")
                        await suite.warm_up(sides, asked.workers)
                        bar.update(starting, visible=False)
                        await _one_latency(asked, found, sides, latency, bar)

            asyncio.run(measure())


async def _one_latency(
    asked: Load, found: _Found, sides: suite.Sides, latency: int, bar: Progress
) -> None:
    users = asked.users
    if asked.page:
        task = bar.add_task(f"{latency} ms, page", total=2 * asked.page)
        async for look in load_page.looks(sides, asked.page):
            found.seen.append(look)
            bar.advance(task)
        return
    if asked.kills:
        task = bar.add_task(f"{latency} ms, {users[-1]} users", total=asked.kills)
        async for one in load_kills.kills(sides, runs=users[-1], rounds=asked.kills):
            found.rounds.append(one)
            bar.advance(task)
        return
    if asked.soak:
        task = bar.add_task(f"{latency} ms, {users[-1]} users", total=None)
        found.soak = await suite.soak(
            sides,
            latency_ms=latency,
            concurrency=users[-1],
            minutes=asked.soak,
            finished=partial(bar.advance, task),
        )
        return
    for number in users:
        runs = max(asked.runs, 2 * number)
        task = bar.add_task(f"{latency} ms, {number} users", total=2 * runs)
        found.levels += await suite.compare(
            sides,
            latency_ms=latency,
            concurrency=number,
            runs=runs,
            minutes=asked.seconds / 60,
            finished=partial(bar.advance, task),
        )
        bar.remove_task(task)


def _tell(asked: Load, found: _Found, out: Path, console: Console, *, as_json: bool) -> None:
    """Write the result file, and show what it holds."""
    kind = asked.storage.partition(":")[0]
    head = machine.head()
    report: dict[str, Any] = head | {
        "command": without_passwords(str(head["command"])),
        "storage": kind,
        "workers": asked.workers,
        "jobs": asked.jobs,
        "levels": [one.model_dump() for one in found.levels],
        "soak": found.soak.model_dump() if found.soak else None,
        "kills": [one.model_dump() for one in found.rounds],
        "page": [one.model_dump() for one in found.seen],
    }
    path = out / f"{asked.kind}-{kind}-{asked.workers}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    workers = f"{asked.workers} worker{'s' * (asked.workers > 1)} of {asked.jobs} runs"
    levels = [found.soak.level] if found.soak else found.levels
    title = f"{suite.METHOD} on {kind}, {workers}"
    made = suite.table(levels, title)
    if found.rounds:
        made = load_kills.table(found.rounds, title)
    if found.seen:
        made = load_page.table(found.seen, title)
    grown = suite.growth(found.soak) if found.soak else ""
    page = path.with_suffix(".md")
    page.write_text("\n\n".join(_markdown(report, made, grown)) + "\n", "utf-8")
    console.print(f"Written: {path} and {page.name}", markup=False, soft_wrap=True)
    if as_json:
        typer.echo(path.read_text("utf-8"))
        return
    show_tables([made], console)
    for one in levels:
        if one.problem:
            console.print(f"{one.concurrency} users, {one.loop}: {one.problem}", markup=False)
    for lost in found.rounds:
        if lost.problem:
            console.print(f"Lost: {lost.problem}", markup=False)
    if grown:
        console.print(grown, markup=False)


def _markdown(report: Mapping[str, Any], made: Table, grown: str) -> list[str]:
    """What was measured as a page: on what, by which command, the table, growth of memory."""
    machine = report["machine"]
    about = f"{machine['cores']} cores of {machine['processor']}, {machine['memory_gb']} GB"
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    head = f"`{report['command']}`, {report['date']}, commit {report['commit'] or 'unknown'}"
    parts = [f"{head}. {about}, {machine['platform']}. {versions}.", table_markdown(made), grown]
    return [part for part in parts if part]
