"""``planweave bench text2sql`` and ``text2cypher``: does a method write the right query?"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from planweave import BadInput
from planweave.apps.cli.bench.common import Model, Running, listed
from planweave.apps.cli.groups import grouped
from planweave.benchmarks.core.suite import drawn
from planweave.benchmarks.suites import text2cypher as cypher_suite
from planweave.benchmarks.suites import text2sql as sql_suite
from planweave.benchmarks.suites.query_writing.question import Question
from planweave.benchmarks.suites.query_writing.solver import SOLVERS
from planweave.benchmarks.suites.query_writing.trial import samples

Data = Annotated[
    Path | None,
    typer.Option(help="Folder of the questions, or a question file; see PLANWEAVE_PUBLISHED."),
]
Mode = Annotated[str, typer.Option(help="Ways of writing the query, with commas between, or all.")]
Limit = Annotated[int | None, typer.Option(help="Questions at most; all if unset.", min=1)]
Seed = Annotated[int, typer.Option(help="Which questions the limit leaves.")]


@grouped()
def text2sql(
    *,
    data: Data = None,
    databases: Annotated[
        Path | None, typer.Option(help="Folder of the databases; databases/ beside the questions.")
    ] = None,
    mode: Mode = "plain",
    only: Annotated[
        Literal["answerable", "unanswerable"] | None,
        typer.Option(help="Only questions that the database can, or cannot, answer."),
    ] = None,
    model: Model = "embedded",
    limit: Limit = None,
    seed: Seed = 1,
    running: Running,
) -> None:
    """Text to SQL: one query for each question, compared by what it returns; can be resumed."""
    data = data or published(sql_suite.NAME)
    questions = sql_suite.load(data, only, databases)
    _measure(sql_suite.NAME, data, questions, mode, model, limit, seed, running)


@grouped()
def text2cypher(
    *,
    data: Data = None,
    graphs: Annotated[
        Path | None, typer.Option(help="Folder of the graphs; graphs/ beside the questions.")
    ] = None,
    mode: Mode = "plain",
    model: Model = "embedded",
    limit: Limit = None,
    seed: Seed = 1,
    running: Running,
) -> None:
    """Text to Cypher: one query for each question, compared by what it returns; can be resumed."""
    data = data or published(cypher_suite.NAME)
    questions = cypher_suite.load(data, graphs)
    _measure(cypher_suite.NAME, data, questions, mode, model, limit, seed, running)


def published(name: str) -> Path:
    """The question set in the folder of published data."""
    folder = Path(os.environ.get("PLANWEAVE_PUBLISHED", "../shared/data")) / name
    if not folder.is_dir():
        raise BadInput(
            f"There is no folder {folder}.",
            fix="Name the questions with --data, or set PLANWEAVE_PUBLISHED.",
        )
    return folder


def _measure(
    name: str,
    data: Path,
    questions: Sequence[Question],
    mode: str,
    model: str,
    limit: int | None,
    seed: int,
    running: Running,
) -> None:
    context = running.context(model=model)
    methods = listed(mode, SOLVERS.names(), "mode", every="all")
    deciding = [question for question in questions if question.decides]
    if left := len(questions) - len(deciding):
        running.console.print(
            f"{left} questions are left out: ties leave open which rows are their answer.",
            markup=False,
        )
    chosen = drawn(deciding, limit, seed, lambda question: question.id)
    running.measure(
        name,
        samples(name, chosen, modes=methods, settings=context),
        context,
        {
            "name": data.name,
            "questions": len(questions),
            "chosen": len(chosen),
            "limit": limit,
            "seed": seed,
        },
    )
