"""A question about a database, with the queries that are accepted as its answer."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, JsonValue, model_validator

from planweave import BadInput, PlanweaveError
from planweave.benchmarks.suites.query_writing.compare import AcceptedQuery
from planweave.nodes.assist.query_writer import Need
from planweave.tools.connect import open_database
from planweave.tools.database import Limits

_LIMITS = Limits(seconds=60, rows=100_000, characters=50_000_000)
SUFFIXES = (".sql", ".sqlite", ".db", ".cypher", ".cql")


Name = Annotated[str, BeforeValidator(str)]
"""An identifier, which some files write as a number."""


class QuestionLine(BaseModel):
    """A line of a question file; a field that is null counts as one that is not there."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        return {name: value for name, value in data.items() if value is not None}


class QueryQuestion(BaseModel, frozen=True):
    """One question of any published file."""

    id: str  # unique in its file
    group: str  # the part of the set
    category: str = ""  # as published
    database: str
    source: str  # path of the database
    question: str
    notes: str = ""  # what is published about the database
    instructions: str = ""
    now: str = ""
    readings: tuple[AcceptedQuery, ...] = ()  # accepted queries; none if the database cannot answer
    refusal: str = ""  # the sentence that says so, as the instructions ask for it
    tried: tuple[str, ...] = ()  # queries that a model wrote for it, right or wrong

    @property
    def answerable(self) -> bool:
        """Whether the database can answer it."""
        return bool(self.readings)

    @property
    def decides(self) -> bool:
        """Whether rows can tell a right answer from a wrong one."""
        return not self.readings or any(reading.decides for reading in self.readings)


def need_of(question: QueryQuestion) -> Need:
    """What the query writer is asked for."""
    return Need(
        question=question.question,
        instructions=question.instructions,
        background=question.notes,
        now=question.now,
    )


def database_file(folder: Path, name: str) -> Path:
    """The file of a database: ``NAME.sql``, ``NAME.sqlite``, ``NAME/NAME.sqlite`` and the like."""
    for place in (folder, folder / name):
        for suffix in SUFFIXES:
            if (path := place / f"{name}{suffix}").is_file():
                return path
    raise BadInput(
        f"There is no database {name!r} in {folder}.",
        fix=f"It must be a file {name}.sql, {name}.sqlite or {name}.cypher there.",
    )


def file_in(folder: Path, name: str, fix: str) -> Path:
    """The question file of that name in a folder, plain or packed."""
    if found := find_file(folder, name):
        return found
    raise BadInput(f"There is no file {name}.jsonl or {name}.jsonl.gz in {folder}.", fix=fix)


def find_file(folder: Path, name: str) -> Path | None:
    """See :func:`file_in`; None if there is none."""
    paths = (folder / f"{name}{suffix}" for suffix in (".jsonl", ".jsonl.gz"))
    return next((path for path in paths if path.is_file()), None)


def answer_of(name: str, gold: str, source: Path) -> list[list[JsonValue]]:
    """What a gold query returns."""
    try:
        result = open_database(str(source)).run(gold, _LIMITS)
    except PlanweaveError as error:
        raise BadInput(
            f"The gold query of the question {name} does not run: {error.problem}",
            fix="Correct it, or give its answer as `answers` (of a graph: `answer`).",
        ) from error
    return [[*row] for row in result.rows]
