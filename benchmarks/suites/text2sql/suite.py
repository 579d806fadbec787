"""Text to SQL: questions about tables, answered by one query each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from planweave.benchmarks.core.suite import register
from planweave.benchmarks.suites.query_writing.question import QueryQuestion, QuestionPart, load
from planweave.benchmarks.suites.query_writing.trial import QueryOptions, QuerySuite


@dataclass(frozen=True, kw_only=True)
class SqlOptions(QueryOptions):
    """Options of the suite."""

    databases: Annotated[
        Path | None,
        typer.Option(help="Folder of the databases; if unset, databases/ next to the questions."),
    ] = None
    only: Annotated[
        QuestionPart | None,
        typer.Option(help="Only questions that the database can answer, or only the others."),
    ] = None


@register("text2sql")
class TextToSql(QuerySuite):
    """Text to SQL: one query for each question, compared by what it returns."""

    Options = SqlOptions

    def questions(self, options: SqlOptions, data: Path) -> list[QueryQuestion]:
        """Each part of the question set is a scenario."""
        return load(data, options.only, options.databases)
