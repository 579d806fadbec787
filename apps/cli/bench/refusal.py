"""``planweave bench refusal``: which questions does a database have no answer to?"""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from planweave.apps.cli.bench.common import publish
from planweave.apps.options import AsJson
from planweave.benchmarks.core.options import published
from planweave.benchmarks.suites import text2sql as sql_suite
from planweave.benchmarks.suites.query_writing import refusal as refusing


def refusal(
    data: Annotated[
        Path | None, typer.Option(help="Folder of the questions; see PLANWEAVE_PUBLISHED.")
    ] = None,
    target: Annotated[
        float, typer.Option(help="Share of answerable questions to refuse at most.", min=0.001)
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Which half of the questions calibrates.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as Markdown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Calibrates the setting most_unlinked on questions with and without an answer; no model."""
    console = Console(stderr=as_json, highlight=False)
    questions = refusing.scored(sql_suite.load(data or published("text2sql")))
    found = refusing.calibrate(questions, target=target, seed=seed)
    tables = refusing.tables(questions, found, target)
    publish("Refusal", tables, console, as_json=as_json, out=out)
