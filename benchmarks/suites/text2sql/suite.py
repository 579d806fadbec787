"""Text to SQL: questions about tables, answered by one query each.

A folder has ``questions.jsonl[.gz]``, ``unanswerable.jsonl[.gz]`` if there are such questions,
and ``databases/``: NAME.sql (or NAME.sqlite), optionally with NAME.glossary.txt next to it. A
question needs ``database`` (or ``db_id``), ``question``, and ``golds`` (or one ``gold``, ``query``
or ``SQL``). If ``answers`` are missing, the golds are run.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from pydantic import AliasChoices, Field, JsonValue

from planweave import BadInput
from planweave.benchmarks.core.suite import register
from planweave.benchmarks.suites.query_writing.compare import AcceptedQuery, Ties
from planweave.benchmarks.suites.query_writing.question import (
    QueryQuestion,
    QuestionLine,
    QuestionPart,
    find_database,
    load_questions,
    run_gold,
)
from planweave.benchmarks.suites.query_writing.trial import QueryOptions, QuerySuite
from planweave.records import read_text

_FIX = "Give a folder with questions.jsonl and databases/, or a question file next to databases/."
_SENTENCE = re.compile(r"'((?:[^']|'')*)'")


class _Line(QuestionLine):
    """A line of a question file."""

    database: str = Field(validation_alias=AliasChoices("database", "db_id"))
    set: str = "questions"
    category: str = ""
    instructions: str = Field("", validation_alias=AliasChoices("instructions", "evidence"))
    now: str = ""
    golds: tuple[str, ...] = ()
    gold: str = Field("", validation_alias=AliasChoices("gold", "query", "SQL"))
    answers: list[list[list[JsonValue]]] | None = None
    ordered: list[bool] | None = None
    ties: list[Ties] | None = None


def load(
    data: Path, part: QuestionPart | None = None, databases: Path | None = None
) -> list[QueryQuestion]:
    """Load questions (:func:`load_questions`); by default, ``databases/`` is next to them."""
    databases = databases or (data if data.is_dir() else data.parent) / "databases"
    return load_questions(data, databases, part, _Line, _make_question, fix=_FIX)


def _make_question(line: _Line, name: str, databases: Path, answerable: bool) -> QueryQuestion:
    source = find_database(databases, line.database)
    return QueryQuestion(
        id=name,
        group=line.set if answerable else "unanswerable",
        category=line.category,
        database=line.database,
        source=str(source),
        question=line.question,
        notes=_notes(databases, line.database),
        instructions=line.instructions,
        now=line.now,
        readings=_accepted_queries(name, line, source) if answerable else (),
        refusal="" if answerable else _selected_sentence(line.gold),
    )


def _notes(databases: Path, name: str) -> str:
    glossary = databases / f"{name}.glossary.txt"
    return read_text(glossary, fix=_FIX).strip() if glossary.is_file() else ""


def _accepted_queries(name: str, line: _Line, source: Path) -> tuple[AcceptedQuery, ...]:
    golds = line.golds or (line.gold,)
    if not all(golds):
        raise BadInput(f"The question {name} has no gold query.", fix=_FIX)
    answers = line.answers or [run_gold(name, gold, source) for gold in golds]
    ordered = line.ordered or [_has_order(name, gold) for gold in golds]
    ties = line.ties or [None] * len(golds)
    if not len(golds) == len(answers) == len(ordered) == len(ties):
        raise BadInput(
            f"The question {name} has {len(golds)} golds, {len(answers)} answers, {len(ordered)} "
            f"marks of order and {len(ties)} of ties.",
            fix="Give one of each for every gold.",
        )
    return tuple(
        AcceptedQuery(query=gold, rows=tuple(map(tuple, rows)), ordered=is_ordered, ties=tie)
        for gold, rows, is_ordered, tie in zip(golds, answers, ordered, ties, strict=True)
    )


def _has_order(name: str, gold: str) -> bool:
    """Whether a query has an ORDER BY at its top level."""
    import sqlglot

    try:
        return sqlglot.parse_one(gold, read="sqlite").args.get("order") is not None
    except sqlglot.errors.SqlglotError:
        raise BadInput(
            f"The gold query of the question {name} cannot be parsed, so its order is unknown.",
            fix="Add `ordered`: true or false for each gold.",
        ) from None


def _selected_sentence(gold: str) -> str:
    """The sentence that the gold query of an unanswerable question selects."""
    found = _SENTENCE.search(gold)
    return found[1].replace("''", "'") if found else ""


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
