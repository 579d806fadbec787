"""Text to SQL: questions about tables, answered by one query each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from planweave.benchmarks.core.suite import register
from planweave.benchmarks.suites.query_writing.question import Question
from planweave.benchmarks.suites.query_writing.trial import QueryOptions, QuerySuite
from planweave.benchmarks.suites.text2sql.load import Part, load


@dataclass(frozen=True, kw_only=True)
class SqlOptions(QueryOptions):
    """What may be chosen."""

    databases: Annotated[
        Path | None,
        typer.Option(help="Folder of the databases; if unset, databases/ beside the questions."),
    ] = None
    only: Annotated[
        Part | None, typer.Option(help="Only questions that the database can, or cannot, answer.")
    ] = None


@register("text2sql")
class TextToSql(QuerySuite):
    """Text to SQL: one query for each question, compared by what it returns."""

    Options = SqlOptions

    def questions(self, options: SqlOptions, data: Path) -> list[Question]:
        """Each part of the question set is a scenario."""
        return load(data, options.only, options.databases)
