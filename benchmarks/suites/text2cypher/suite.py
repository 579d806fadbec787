"""Text to Cypher: questions about graphs, answered by one query each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from planweave.benchmarks.core.suite import register
from planweave.benchmarks.suites.query_writing.question import Question
from planweave.benchmarks.suites.query_writing.trial import QueryOptions, QuerySuite
from planweave.benchmarks.suites.text2cypher.load import load


@dataclass(frozen=True, kw_only=True)
class CypherOptions(QueryOptions):
    """What may be chosen."""

    graphs: Annotated[
        Path | None,
        typer.Option(help="Folder of the graphs; if unset, graphs/ beside the questions."),
    ] = None


@register("text2cypher")
class TextToCypher(QuerySuite):
    """Text to Cypher: one query for each question, compared by what it returns."""

    Options = CypherOptions

    def questions(self, options: CypherOptions, data: Path) -> list[Question]:
        """Each published type of question is a scenario."""
        return load(data, options.graphs)
