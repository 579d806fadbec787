"""Text to Cypher: questions about graphs, answered by one query each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from planweave.benchmarks.core.suite import register
from planweave.benchmarks.suites.query_writing.question import QueryQuestion, load
from planweave.benchmarks.suites.query_writing.trial import QueryOptions, QuerySuite


@dataclass(frozen=True, kw_only=True)
class CypherOptions(QueryOptions):
    """Options of the suite."""

    graphs: Annotated[
        Path | None,
        typer.Option(help="Folder of the graphs; if unset, graphs/ next to the questions."),
    ] = None


@register("text2cypher")
class TextToCypher(QuerySuite):
    """Text to Cypher: one query for each question, compared by what it returns."""

    Options = CypherOptions

    def questions(self, options: CypherOptions, data: Path) -> list[QueryQuestion]:
        """Each published type of question is a scenario."""
        return load(data, databases=options.graphs, near=("graphs", "databases"))
