"""Text to Cypher: questions about graphs, answered by one query each.

A folder has ``questions.jsonl[.gz]``, ``unanswerable.jsonl[.gz]`` if there are such questions,
and ``graphs/`` (NAME.cypher or NAME.cql). A question needs ``graph``, ``question`` and, if there is
an answer, ``gold``. If ``answer`` is missing, the gold is run. The set has one gold per question,
but its two authors chose different columns, so a result may have fewer or more columns than the
gold.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from planweave import BadInput
from planweave.benchmarks.core.suite import register
from planweave.benchmarks.suites.query_writing.compare import AcceptedQuery, Ties
from planweave.benchmarks.suites.query_writing.question import (
    QueryQuestion,
    QuestionLine,
    find_database,
    load_questions,
    run_gold,
)
from planweave.benchmarks.suites.query_writing.trial import QueryOptions, QuerySuite

_FIX = "Give a folder with questions.jsonl and graphs/, or a question file next to graphs/."
_LAST_RETURN = re.compile(r"\bRETURN\b(?!.*\bRETURN\b)(.*)", re.IGNORECASE | re.DOTALL)


class _Line(QuestionLine):
    """A line of a question file."""

    graph: str
    type: str = "questions"
    gold: str = ""
    answer: list[list[JsonValue]] | None = None
    ordered: bool | None = None
    ties: Ties = None
    agree: bool | None = None


def load(data: Path, graphs: Path | None = None) -> list[QueryQuestion]:
    """Load questions (:func:`load_questions`); by default, ``graphs/`` is next to them."""
    graphs = graphs or (data if data.is_dir() else data.parent) / "graphs"
    return load_questions(data, graphs, None, _Line, _make_question, fix=_FIX)


def _make_question(line: _Line, name: str, graphs: Path, answerable: bool) -> QueryQuestion:
    source = find_database(graphs, line.graph)
    return QueryQuestion(
        id=name,
        group=line.type if answerable else "unanswerable",
        category={True: "golds agree", False: "golds differ", None: "one gold"}[line.agree],
        database=line.graph,
        source=str(source),
        question=line.question,
        readings=(_accepted_query(name, line, source),) if answerable else (),
    )


def _accepted_query(name: str, line: _Line, source: Path) -> AcceptedQuery:
    if not line.gold:
        raise BadInput(f"The question {name} has no gold query.", fix=_FIX)
    rows = run_gold(name, line.gold, source) if line.answer is None else line.answer
    return AcceptedQuery(
        query=line.gold,
        rows=tuple(map(tuple, rows)),
        ordered=_has_order(line.gold) if line.ordered is None else line.ordered,
        ties=line.ties,
        narrower=True,
    )


def _has_order(gold: str) -> bool:
    """Whether the last RETURN of a query sorts."""
    found = _LAST_RETURN.search(gold)
    return found is not None and re.search(r"\bORDER\s+BY\b", found[1], re.IGNORECASE) is not None


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
        return load(data, options.graphs)
