"""The commands of ``planweave dqa``: fetch the published data set, check and describe it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress
from rich.table import Table

from planweave import BadInput
from planweave.apps.plain import plain
from planweave.simulators.check import CheckReport, ScenarioCheck
from planweave.simulators.check import check as check_data
from planweave.simulators.published import COMMIT, load_dataset
from planweave.simulators.published import download as fetch
from planweave.simulators.statistics import statistics

Data = Annotated[
    Path, typer.Option("--path", "--data", help="A clone, folder or archive of the data set.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]

_STATISTICS = ("questions", "rows", "columns", "edges", "vertices")


def check(
    *,
    path: Data,
    semantics: Annotated[
        str, typer.Option(help="annotation (how the answers were computed) or printed (the rules).")
    ] = "annotation",
    as_json: AsJson = False,
) -> None:
    """Recompute every annotation by simulation; exit 1 if one cannot be or is not a best decision.

    The same is done for the baselines that need no model.
    """
    data = load_dataset(path)
    with Progress(
        "checking", BarColumn(), MofNCompleteColumn(), transient=True, console=Console(stderr=True)
    ) as bar:
        task = bar.add_task("checking", total=len(data.questions))
        report = check_data(
            data, _semantics(semantics), progress=lambda done, _: bar.update(task, completed=done)
        )
    if as_json:
        typer.echo(json.dumps(_record(report), indent=2))
    else:
        _show(report)
    raise typer.Exit(0 if report.good or semantics != "annotation" else 1)


def stats(
    *,
    path: Data,
    as_json: AsJson = False,
) -> None:
    """How large the databases are (PlanRAG, tables 3 and 8)."""
    found = statistics(load_dataset(path))
    if as_json:
        made = {"origin": path.name, "scenarios": [asdict(one) for one in found]}
        typer.echo(json.dumps(made, indent=2))
        return
    table = Table("scenario", *_STATISTICS, box=None)
    for one in found:
        figures = asdict(one)
        table.add_row(one.scenario, *(f"{figures[name]:.6g}" for name in _STATISTICS))
    Console(highlight=False).print(table)


def download(
    destination: Annotated[Path, typer.Argument(help="Folder for the archive.")],
    commit: Annotated[str, typer.Option(help="Commit, branch or tag.")] = COMMIT,
) -> None:
    """Fetch the data set (MIT licence); the exact commit is recorded beside the archive."""
    with Progress("fetching", BarColumn(), DownloadColumn(), transient=True) as bar:
        task = bar.add_task("fetching", total=None)
        path = fetch(
            destination,
            commit,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    typer.echo(f"The data set is in {path}.")


def _semantics(name: str) -> Literal["annotation", "printed"]:
    if name == "annotation":
        return "annotation"
    if name == "printed":
        return "printed"
    raise BadInput(f"There are no {name!r} semantics.", fix="Choose annotation or printed.")


def _record(report: CheckReport) -> dict[str, object]:
    return {
        "origin": report.origin,
        "semantics": report.semantics,
        "good": report.good,
        "missing": list(report.missing),
        "scenarios": {check.scenario: _counts(check) for check in report.scenarios},
    }


def _counts(check: ScenarioCheck) -> dict[str, object]:
    checked = max(1, check.checked)
    return {
        "questions": check.questions,
        "equal": len(check.equal),
        "equivalent": len(check.equivalent),
        "different": len(check.different),
        "degenerate": len(check.degenerate),
        "clean": len(check.clean),
        "different_ids": check.different,
        "without_database": check.without_database,
        "unreadable": check.unreadable,
        "baselines": [asdict(score) for score in check.baselines],
        "parse_milliseconds": 1000 * check.parse_seconds / checked,
        "simulate_milliseconds": 1000 * check.simulate_seconds / checked,
    }


def _show(report: CheckReport) -> None:
    console = Console(highlight=False)
    counts = ("questions", "equal", "equivalent", "different", "degenerate", "clean")
    table = Table("scenario", *counts, "ms a question", box=None)
    for check in report.scenarios:
        figures = _counts(check)
        milliseconds = f"{figures['simulate_milliseconds']:.2f}"
        table.add_row(check.scenario, *(str(figures[name]) for name in counts), milliseconds)
    console.print(table)
    for check in report.scenarios:
        for score in check.baselines:
            console.print(f"{check.scenario}: {score.name} {score.right:g} of {check.checked}")
        for name, problem in check.unreadable.items():
            console.print(plain(f"{name}: {problem}"), markup=False)
    for sentence in report.missing:
        console.print(plain(sentence), markup=False)
