"""``planweave dqa``: download, check and describe the published Decision QA data set."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress
from rich.table import Table

from planweave.apps.options import AsJson, Reading
from planweave.apps.plain import plain

if TYPE_CHECKING:
    from planweave.simulators.check import CheckReport, ScenarioCheck

EXAMPLES = """\
planweave dqa download data/

planweave dqa check --data data/planrag-*.zip
"""

app = typer.Typer(no_args_is_help=True)

Data = Annotated[
    Path, typer.Option("--path", "--data", help="A clone, folder or archive of the data set.")
]

_COUNTS = ("questions", "equal", "equivalent", "different", "degenerate", "clean")
_STATISTICS = ("questions", "rows", "columns", "edges", "vertices")


@app.callback()
def dqa() -> None:
    """The published Decision QA data set."""


@app.command()
def check(*, path: Data, semantics: Reading = "annotation", as_json: AsJson = False) -> None:
    """Recompute every annotation and the baselines by simulation.

    Exit code 1: an annotation cannot be recomputed, or is not a best decision.
    """
    from planweave.simulators.check import check as check_data
    from planweave.simulators.published import load_dataset

    data = load_dataset(path)
    with Progress(
        "checking", BarColumn(), MofNCompleteColumn(), transient=True, console=Console(stderr=True)
    ) as bar:
        task = bar.add_task("checking", total=len(data.questions))
        report = check_data(
            data, semantics, progress=lambda done, _: bar.update(task, completed=done)
        )
    if as_json:
        typer.echo(json.dumps(_as_json_record(report), indent=2))
    else:
        _print_report(report)
    raise typer.Exit(0 if report.good or semantics != "annotation" else 1)


@app.command()
def stats(*, path: Data, as_json: AsJson = False) -> None:
    """Show the sizes of the databases (PlanRAG, tables 3 and 8)."""
    from planweave.simulators.check import statistics
    from planweave.simulators.published import load_dataset

    found = [asdict(one) for one in statistics(load_dataset(path))]
    if as_json:
        typer.echo(json.dumps({"origin": path.name, "scenarios": found}, indent=2))
        return
    table = Table("scenario", *_STATISTICS, box=None)
    for one in found:
        table.add_row(one["scenario"], *(f"{one[name]:.6g}" for name in _STATISTICS))
    Console(highlight=False).print(table)


@app.command()
def download(
    destination: Annotated[Path, typer.Argument(help="Folder for the archive.")],
    commit: Annotated[
        str, typer.Option(help="Commit, branch or tag; the tested one if unset.")
    ] = "",
) -> None:
    """Download the data set (MIT licence), and record the exact commit next to the archive."""
    from planweave.simulators.published import COMMIT
    from planweave.simulators.published import download as fetch

    with Progress("fetching", BarColumn(), DownloadColumn(), transient=True) as bar:
        task = bar.add_task("fetching", total=None)
        path = fetch(
            destination,
            commit or COMMIT,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    typer.echo(f"The data set is in {path}.")


def _as_json_record(report: "CheckReport") -> dict[str, object]:
    return {
        "origin": report.origin,
        "semantics": report.semantics,
        "good": report.good,
        "missing": list(report.missing),
        "scenarios": {check.scenario: _counts(check) for check in report.scenarios},
    }


def _counts(check: "ScenarioCheck") -> dict[str, object]:
    checked = max(1, check.checked)
    found = {name: getattr(check, name) for name in _COUNTS}
    return {name: one if isinstance(one, int) else len(one) for name, one in found.items()} | {
        "different_ids": check.different,
        "without_database": check.without_database,
        "unreadable": check.unreadable,
        "baselines": [asdict(score) for score in check.baselines],
        "parse_milliseconds": 1000 * check.parse_seconds / checked,
        "simulate_milliseconds": 1000 * check.simulate_seconds / checked,
    }


def _print_report(report: "CheckReport") -> None:
    console = Console(highlight=False)
    table = Table("scenario", *_COUNTS, "ms a question", box=None)
    for check in report.scenarios:
        figures = _counts(check)
        milliseconds = f"{figures['simulate_milliseconds']:.2f}"
        table.add_row(check.scenario, *(str(figures[name]) for name in _COUNTS), milliseconds)
    console.print(table)
    for check in report.scenarios:
        for score in check.baselines:
            console.print(f"{check.scenario}: {score.name} {score.right:g} of {check.checked}")
        for name, problem in check.unreadable.items():
            console.print(plain(f"{name}: {problem}"), markup=False)
    for sentence in report.missing:
        console.print(plain(sentence), markup=False)
