"""``planweave bench regrade``: products of earlier runs, by the tests of another data set."""

from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console
from rich.progress import track

from planweave import BadInput
from planweave.apps.cli.bench.common import Out, head_of, tell_report
from planweave.benchmarks.core.options import listed
from planweave.benchmarks.core.store import ResultFile, read
from planweave.benchmarks.suites.rat import regrade as again
from planweave.benchmarks.suites.rat.items import FILES, Family
from planweave.memory import Context


def regrade(
    file: Annotated[Path, typer.Argument(help="A result file of `bench rat`.")],
    *,
    family: Annotated[str, typer.Option(help="code or maths.")],
    data: Annotated[Path, typer.Option(help="Folder of the family's published files.")],
    dataset: Annotated[str, typer.Option(help="The data set whose tests are run.")],
    out: Out,
) -> None:
    """Grade programs of HumanEval by HumanEval+: the same tasks, no model is asked."""
    console = Console(highlight=False)
    (chosen,) = listed(family, get_args(Family)[:2], "task family", every="")
    (name,) = listed(dataset, tuple(FILES[chosen]), "data set", every="")
    results = read(file)
    pairs = again.matched([*results.records.values()], chosen, name, data)
    if not pairs:
        raise BadInput(
            f"{file} has no task of another data set that {name} asks, too.",
            fix="HumanEval+ has the tasks of HumanEval; others have tasks of their own.",
        )
    made = [
        *track(again.graded_again(pairs), "graded", len(pairs), console=console, transient=True)
    ]
    path = out / file.name
    kept = ResultFile(path, lambda said: console.print(said, markup=False, soft_wrap=True))
    try:
        for run in results.runs:
            if run.settings.get("family") == chosen:
                kept.append(run)
        context = Context(model=made[0].model, family=chosen)
        kept.append(head_of(made[0].suite, context, {"name": name, "of": file.name}))
        for record in made:
            kept.append(record)
    finally:
        kept.close()
    tell_report([path], console, as_json=False, folder=out)
