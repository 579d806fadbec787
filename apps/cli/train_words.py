"""``planweave train words``: learn which missing words speak against an answer."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from planweave import BadInput
from planweave.apps.options import writable
from planweave.benchmarks.suites.query_writing.question import QueryQuestion, load
from planweave.learning.question_words import learn_weights, write_weights
from planweave.nodes.assist.query_writer import find_unknown_words
from planweave.tools.connect import open_database


def words(
    *,
    data: Annotated[
        list[Path],
        typer.Option(help="Folder of questions with and without an answer; may be repeated."),
    ],
    out: Annotated[Path, typer.Option(help="The file to write, as question-words.json.")],
) -> None:
    """Learn the weights of missing words for refusing questions; needs no model."""
    writable(out.parent)
    questions = [question for folder in data for question in load(folder)]
    if len({question.answerable for question in questions}) < 2:
        raise BadInput(
            "The questions must be of both kinds, with and without an answer.",
            fix="Name folders that have questions.jsonl and unanswerable.jsonl.",
        )
    weights = learn_weights(_missing(questions))
    answerable = sum(question.answerable for question in questions)
    kinds = f"{answerable} questions with an answer, {len(questions) - answerable} without"
    write_weights(out, weights, f"planweave train words, {datetime.now(UTC).date()}: {kinds}")
    typer.echo(f"{len(weights)} words written into {out}.")


def _missing(questions: Sequence[QueryQuestion]) -> Iterator[tuple[set[str], bool]]:
    """The stems of the missing words of each question, and whether it has an answer."""
    for question in track(questions, "questions"):
        _, missing = find_unknown_words(question.task.need, open_database(question.source))
        yield set(missing), question.answerable
