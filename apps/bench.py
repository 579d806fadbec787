"""``planweave bench``: measure methods on a benchmark, and read what was measured."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar, get_args

import platformdirs
import typer
from pydantic import JsonValue, ValidationError
from rich.console import Console

from apps.plain import plain
from benchmarks import dqa as decision_qa
from benchmarks import machine, runner
from benchmarks.record import settings_of
from benchmarks.report import Report, draw, show
from benchmarks.store import ResultFile, Run, merged
from benchmarks.suite import Sample
from benchmarks.watch import Watch
from graphs import METHODS
from memory import Context
from models import ModelUnavailable
from planweave import BadInput
from simulators.published import DataSet, load
from tools.database import Kind

app = typer.Typer(help="Measure methods on a benchmark.", no_args_is_help=True)

Name = TypeVar("Name", bound=str)

_GO_ON = "What is finished is kept; the same command goes on from there."
_JSON = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


@app.command()
def dqa(
    *,
    data: Annotated[Path, typer.Option(help="Clone or archive in the published layout.")],
    method: Annotated[str, typer.Option(help="Methods with commas between, or all.")] = "all",
    database: Annotated[str, typer.Option(help="relational, graph or both.")] = "both",
    model: Annotated[str, typer.Option(help="Chat model, such as openai:gpt-4o.")] = "embedded",
    scenario: Annotated[
        str, typer.Option(help="Scenarios with commas between; both: all in the data.")
    ] = "both",
    limit: Annotated[
        int | None, typer.Option(help="Questions at most; all if unset.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Which questions the limit leaves.")] = 1,
    concurrency: Annotated[int, typer.Option(help="Questions in flight.", min=1, max=256)] = 1,
    replan: Annotated[
        str, typer.Option(help="every_observation, or when_needed (fewer calls).")
    ] = "every_observation",
    max_iterations: Annotated[int, typer.Option(help="Actions a question at most.")] = 15,
    setting: Annotated[
        list[str] | None, typer.Option(help="Any other setting of a run: max_seconds=600.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the result file and the report.")] = Path(
        "results/dqa"
    ),
    redo_crashed: Annotated[
        bool, typer.Option("--redo-crashed", help="Run again what crashed before.")
    ] = False,
    as_json: _JSON = False,
) -> None:
    """Decision QA: each question with each method on each kind of database; can be resumed."""
    os.environ.setdefault("PLANWEAVE_RESPONSE_CACHE", "off")  # a kept reply would look free
    console = Console(stderr=as_json, highlight=False)
    given: dict[str, str | int] = {"model": model, "replan": replan}
    context = _context({**given, "max_iterations": max_iterations, **_pairs(setting or [])})
    methods = _listed(method, METHODS, "method", every="all")
    kinds: list[Kind] = _listed(database, get_args(Kind), "kind of database", every="both")
    found = load(data)
    _tell_missing(console, found)
    chosen = decision_qa.choose(
        [question for question in found.questions if question.database],
        _listed(scenario, found.scenarios, "scenario", every="both"),
        limit,
        seed,
    )
    with console.status("writing the databases …"):
        samples = decision_qa.samples(
            chosen,
            methods=methods,
            databases=kinds,
            settings=context,
            folder=platformdirs.user_cache_path("planweave") / "bench",
        )
    sample = {"limit": limit, "seed": seed, "concurrency": concurrency, "chosen": len(chosen)}
    head = _head(context, {"name": data.name, "questions": len(found.questions), **sample})
    path = out / f"{re.sub(r'[^A-Za-z0-9.]+', '-', Path(model).name).strip('-')}.jsonl"
    _run(console, samples, head, path, concurrency=concurrency, redo_crashed=redo_crashed)
    _report([path], console, as_json=as_json, folder=out)


@app.command()
def report(
    files: Annotated[list[Path], typer.Argument(help="Result files, taken as one.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report as Markdown and PNG.")
    ] = None,
    as_json: _JSON = False,
) -> None:
    """Rebuild the report from result files alone."""
    _report(files, Console(stderr=as_json, highlight=False), as_json=as_json, folder=out)


def _run(
    console: Console,
    samples: Sequence[Sample],
    head: Run,
    path: Path,
    *,
    concurrency: int,
    redo_crashed: bool,
) -> None:
    """Run what the result file does not hold yet."""
    results = ResultFile(path, lambda said: console.print(said, markup=False, soft_wrap=True))
    try:
        done = {
            key
            for key, record in results.results.records.items()
            if not (redo_crashed and record.error)
        }
        todo = [sample for sample in samples if sample.key not in done]
        before = [results.results.records[s.key] for s in samples if s.key in done]
        console.print(f"{path}: {len(before)} done before, {len(todo)} to do.", soft_wrap=True)
        if not todo:
            return
        results.append(head)
        with Watch(console, before, len(samples)) as watch:
            asyncio.run(runner.run(todo, results, concurrency=concurrency, finished=watch.finished))
    except ModelUnavailable:
        console.print(f"Stopped. {_GO_ON}")
        raise
    except KeyboardInterrupt:
        console.print(f"\nInterrupted. {_GO_ON}")
        raise typer.Exit(130) from None
    finally:
        results.close()


def _report(paths: Sequence[Path], console: Console, *, as_json: bool, folder: Path | None) -> None:
    found = merged(paths, lambda said: console.print(said, markup=False, soft_wrap=True))
    made = Report.of(found.runs, list(found.records.values()))
    if folder:
        for path in draw(made, folder):
            console.print(f"Written: {path}", markup=False, soft_wrap=True)
    if as_json:
        typer.echo(json.dumps(made.as_json(), indent=2, ensure_ascii=False))
    else:
        show(made, console)


def _head(context: Context, data: dict[str, JsonValue]) -> Run:
    return Run(
        suite=decision_qa.NAME,
        command=machine.command(sys.argv),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        models=sorted({context.model, *context.models.values()}),
        settings=settings_of(context) | {"process": machine.model_settings()},
        versions=machine.versions(),
        machine=machine.machine(),
        commit=machine.commit(),
        data=data,
    )


def _tell_missing(console: Console, found: DataSet) -> None:
    without = [question.id for question in found.questions if not question.database]
    for sentence in found.missing:
        console.print(plain(sentence), markup=False)
    if without:
        left = f"Left out, for want of a database: {', '.join(without)}."
        console.print(plain(left), markup=False)


def _listed(text: str, known: Sequence[Name], what: str, *, every: str) -> list[Name]:
    """The names in a list with commas, each once."""
    if text == every:
        return list(known)
    names = dict.fromkeys(name.strip() for name in text.split(","))
    if unknown := [name for name in names if name not in known]:
        raise BadInput(
            f"There is no {what} {unknown[0]!r}.", mend=f"Choose {every}, or of {', '.join(known)}."
        )
    return [name for name in known if name in names]


def _pairs(settings: Sequence[str]) -> dict[str, str]:
    if wrong := [pair for pair in settings if not all(pair.partition("="))]:
        raise BadInput(f"{wrong[0]!r} is no setting.", mend="Write --setting NAME=VALUE.")
    return dict(pair.split("=", 1) for pair in settings)


def _context(settings: dict[str, str | int]) -> Context:
    own = {"database", "graph", "rules", "candidates", "approve"} & settings.keys()
    if own:
        raise BadInput(f"The setting {min(own)} is chosen by the benchmark itself.")
    try:
        return Context.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"The setting {name} cannot be used: {first['msg']}.") from None
