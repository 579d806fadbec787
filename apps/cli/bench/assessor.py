"""``planweave bench assessor``: measure the choice of the next query."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from planweave.apps.cli.progress import sentence_vectors
from planweave.apps.options import AsJson
from planweave.apps.plain import plain
from planweave.benchmarks.core import machine
from planweave.benchmarks.core.report import show_tables
from planweave.benchmarks.suites.assessor import measure as suite
from planweave.benchmarks.suites.assessor.search import recall_table, run_searches
from planweave.benchmarks.suites.mhqa import multihop
from planweave.learning.plan_assessor import SHIPPED, load_assessor


def assessor(
    *,
    data: Annotated[
        list[Path], typer.Option(help="File of HotpotQA, 2WikiMultihopQA or MuSiQue; repeatable.")
    ],
    artefact: Annotated[
        Path,
        typer.Option(help="A plan-assessor.npz; the shipped one if unset.", show_default=False),
    ] = SHIPPED,
    candidates: Annotated[int, typer.Option(help="Queries to choose from.", min=2, max=50)] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the candidates.", min=0)] = 1,
    as_json: AsJson = False,
) -> None:
    """Plan assessor: MRR and recall of its queries, compared with random, first and best ones."""
    console = Console(stderr=as_json, highlight=False)
    questions = [question for path in data for question in multihop.load(path)]
    with sentence_vectors(console) as embed:
        loaded = load_assessor(artefact, embed)  # shares the embedded corpus
        parts = suite.assessed_sets(questions, loaded, embed)
        results = [suite.measure(part, loaded, seed, candidates) for part in parts]
        driven = [one for part in parts for one in run_searches(part, loaded, seed, candidates)]
    if as_json:
        made = machine.describe_run() | {
            "artefact": loaded.card.model_dump(include={"version", "sha256", "date", "seed"}),
            "result": [asdict(result) for result in results],
            "search": [asdict(one) for one in driven],
        }
        typer.echo(json.dumps(made, indent=1))
        return
    show_tables([suite.mrr_table(results), recall_table(driven)], console)
    for result in results:
        if result.left_out:
            line = f"{result.dataset}: {result.left_out} training questions left out."
            console.print(plain(line), style="dim", markup=False)
