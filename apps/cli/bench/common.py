"""What the commands of ``planweave bench`` share: options, runs and reports."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

import typer
from pydantic import JsonValue
from rich.console import Console

from planweave import BadInput
from planweave.apps import options
from planweave.apps.cli.groups import grouped
from planweave.apps.options import AsJson, output_folder, writable
from planweave.apps.plain import json_text, print_line
from planweave.benchmarks.core import machine, runner
from planweave.benchmarks.core.picture import Draw, Picture
from planweave.benchmarks.core.ray_executor import ClusterLost, cluster
from planweave.benchmarks.core.record import DEFAULTS, settings_of
from planweave.benchmarks.core.report import Report, draw, show, show_tables, table_json, write_page
from planweave.benchmarks.core.store import ResultFile, Run, name_in_file, read_all
from planweave.benchmarks.core.suite import Sample, ShowStatus, suite
from planweave.benchmarks.core.table import ReportTable
from planweave.benchmarks.core.watch import Watch
from planweave.errors import require
from planweave.memory import Context
from planweave.models import ModelUnavailable
from planweave.records import writing

Out = Annotated[Path, typer.Option("--out", help="Folder of the result file and the report.")]
Log = Annotated[
    Literal["inspect"] | None,
    typer.Option("--log", help="Write logs for `inspect view`, too (extra inspect)."),
]

RESULTS = Path("results")
"""Parent of the default folders of benchmarks."""

STATUS_SECONDS = 20
"""Seconds between the lines of a status if there is no terminal."""

CONTINUES = "Finished samples are saved; the same command continues from there."


@dataclass(frozen=True, kw_only=True)
class Running:
    """Options of every benchmark of methods: how to run samples and report them."""

    concurrency: Annotated[int, typer.Option(help="Samples that run at once.", min=1, max=256)] = 1
    ray: Annotated[
        str, typer.Option(help="Address of a Ray cluster that runs the samples: host:6379.")
    ] = ""
    setting: options.Settings = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder of the result file and the report; below results/ if unset."
        ),
    ] = None
    redo_crashed: Annotated[
        bool, typer.Option("--redo-crashed", help="Run crashed samples again.")
    ] = False
    log: Log = None
    as_json: AsJson = False

    @cached_property
    def console(self) -> Console:
        """The console for progress; stderr if the report is printed as JSON."""
        return Console(stderr=self.as_json, highlight=False)

    def context(self, **settings: str | int) -> Context:
        """The context of the runs: these settings, overridden by the user's."""
        os.environ.setdefault("PLANWEAVE_RESPONSE_CACHE", "off")  # a cached reply would look free
        given = options.named(self.setting, "--setting", "max_reply_tokens=1024")
        return context_of({**settings, **given})

    def measure(
        self,
        suite: str,
        samples: Sequence[Sample],
        context: Context,
        data: Mapping[str, JsonValue],
        *,
        folder: Path | None = None,
    ) -> None:
        """Run samples that are not in the model's result file, and report."""
        folder = folder or self.out or RESULTS / suite
        path = folder / f"{name_in_file(context.model)}.jsonl"
        if self.log:
            require("Inspect", "inspect", "inspect_ai")  # fails before hours of samples
        self._run(samples, head_of(suite, context, {**data, "concurrency": self.concurrency}), path)
        print_report([path], self.console, as_json=self.as_json, folder=folder, log=self.log)

    def _run(self, samples: Sequence[Sample], head: Run, path: Path) -> None:
        """Run samples in this process or on the Ray cluster, with live progress."""
        console = self.console
        results = ResultFile(path, partial(print_line, console))
        try:
            done = {
                key
                for key, record in results.results.records.items()
                if not (self.redo_crashed and record.error)
            }
            todo = [sample for sample in samples if sample.key not in done]
            before = [results.results.records[s.key] for s in samples if s.key in done]
            print_line(console, f"{path}: {len(before)} done before, {len(todo)} to do.")
            if not todo:
                return
            with _executor(self.ray, console) as executor:
                results.append(head)
                with Watch(console, before, len(samples)) as watch:
                    asyncio.run(
                        runner.run(
                            todo,
                            results,
                            concurrency=self.concurrency,
                            finished=watch.finished,
                            executor=executor,
                        )
                    )
        except (ModelUnavailable, ClusterLost):
            console.print(f"Stopped. {CONTINUES}")
            raise
        except KeyboardInterrupt:
            console.print(f"\nInterrupted. {CONTINUES}")
            raise typer.Exit(130) from None
        finally:
            results.close()


@contextmanager
def _executor(ray: str, console: Console) -> Iterator[runner.CarryOut]:
    """Yield the function that runs a sample, in this process or on the cluster at ``ray``."""
    if not ray:
        yield runner.carry_out
        return
    with cluster(ray) as machines:
        console.print(f"Ray cluster: {machines.nodes} machines, {machines.cpus} CPUs.")
        yield machines.carry_out


@contextmanager
def showing_status(console: Console, text: str = "reading …") -> Iterator[ShowStatus]:
    """Show what long work is doing: without a terminal, as a line now and then."""
    with console.status(text) as status:
        shown = monotonic()

        def show(text: str) -> None:
            nonlocal shown
            status.update(text)
            if not console.is_terminal and monotonic() - shown >= STATUS_SECONDS:
                print_line(console, text)
                shown = monotonic()

        yield show


def command_of(name: str) -> Callable[..., None]:
    """Make the command ``planweave bench NAME``, which runs the samples that the suite selects."""
    measured = suite(name)

    def command(*, options: Any, running: Running) -> None:
        context = running.context(**options.settings())
        if running.out:
            writable(running.out)
        with showing_status(running.console) as show_status:
            selected = measured.select(options, context, show_status)
        for note in selected.notes:
            print_line(running.console, note)
        running.measure(name, selected.samples, selected.context or context, selected.about)

    command.__annotations__["options"] = measured.Options
    summary = (measured.__doc__ or name).partition("\n")[0]
    command.__doc__ = f"{summary} Can be resumed."
    return grouped()(command)


def print_report(
    paths: Sequence[Path],
    console: Console,
    *,
    as_json: bool,
    folder: Path | None,
    log: str | None = None,
) -> None:
    """Print the report of result files; write it into ``folder``, with logs if requested."""
    found = read_all(paths, partial(print_line, console))
    made = Report.of(found.runs, list(found.records.values()))
    if folder:
        for path in draw(made, folder):
            print_line(console, f"Written: {path}")
    if log:
        require("Inspect", "inspect", "inspect_ai")
        from planweave.benchmarks.core.inspect_logs import write_logs

        logs = (folder or paths[0].parent) / "inspect"
        count = len(write_logs(found, logs))
        print_line(console, f"Written: {count} logs. Read them: inspect view --log-dir {logs}")
    if as_json:
        typer.echo(json_text(made.as_json()))
    else:
        show(made, console)


def publish(
    title: str,
    tables: Sequence[ReportTable],
    console: Console,
    *,
    as_json: bool,
    out: Path | None,
    draw: Draw | None = None,
) -> None:
    """Print tables; write a page and, with matplotlib, a picture into ``out``."""
    if out:
        page = out / f"{title.lower()}.md"
        picture = Picture(page.with_suffix(".png"), draw, title) if draw else None
        for path in write_page(page, [f"# {title}"], tables, picture):
            print_line(console, f"Written: {path}")
    if as_json:
        typer.echo(json_text({"tables": [table_json(table) for table in tables]}))
    else:
        show_tables(tables, console)


def head_of(suite: str, context: Context, data: dict[str, JsonValue]) -> Run:
    """Make the head of a run: command, models, settings, versions and machine."""
    return Run(
        suite=suite,
        command=machine.command(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        models=sorted({context.model, *context.models.values()}),
        settings=settings_of(context) | {"process": machine.model_settings()},
        versions=machine.versions(),
        machine=machine.machine(),
        commit=machine.git_commit(),
        data=data,
    )


def context_of(settings: dict[str, str | int]) -> Context:
    """The context of a benchmark's runs."""
    sources = {"database", "graph", "collection", "web_search", "environment", "environment_task"}
    if own := (sources | {"rules", "candidates", "approve"}) & settings.keys():
        raise BadInput(f"The setting {min(own)} is set by the benchmark itself.")
    return options.context_of({**DEFAULTS, **settings})


def write_json(path: Path, made: Mapping[str, Any], console: Console) -> None:
    """Write results as JSON, and print the path."""
    write_text(path, json.dumps(made, indent=1, ensure_ascii=False) + "\n", console)


def write_text(path: Path, text: str, console: Console) -> None:
    """Write a file of results, and print its path."""
    output_folder(path.parent)
    with writing(path):
        path.write_text(text, "utf-8")
    print_line(console, f"Written: {path}")
