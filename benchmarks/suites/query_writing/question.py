"""Questions about databases with their accepted queries."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, JsonValue, model_validator

from planweave import BadInput, PlanweaveError
from planweave.benchmarks.suites.query_writing.compare import AcceptedQuery
from planweave.nodes.assist.query_writer import Need
from planweave.records import read_records
from planweave.tools.connect import open_database
from planweave.tools.database import Limits

_LIMITS = Limits(seconds=60, rows=100_000, characters=50_000_000)
SUFFIXES = (".sql", ".sqlite", ".db", ".cypher", ".cql")

Name = Annotated[str, BeforeValidator(str)]
"""An identifier, which some files write as a number."""


QuestionPart: TypeAlias = Literal["answerable", "unanswerable"]


class QuestionLine(BaseModel):
    """A line of a question file; a null counts as a missing field."""

    id: Name = ""
    question: str

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
    refusal: str = ""  # the sentence for such questions that the instructions demand

    @property
    def answerable(self) -> bool:
        """Whether the database can answer it."""
        return bool(self.readings)

    @property
    def decides(self) -> bool:
        """Whether rows distinguish a right answer from a wrong one."""
        return not self.readings or any(reading.decides for reading in self.readings)


def make_need(question: QueryQuestion) -> Need:
    """The question as the query writer takes it."""
    return Need(
        question=question.question,
        instructions=question.instructions,
        background=question.notes,
        now=question.now,
    )


Line = TypeVar("Line", bound=QuestionLine)


def load_questions(
    data: Path,
    databases: Path,
    part: QuestionPart | None,
    form: type[Line],
    make: Callable[[Line, str, Path, bool], QueryQuestion],
    *,
    fix: str,
) -> list[QueryQuestion]:
    """Load the questions of a folder or file.

    Args:
        data: A question file, or a folder with ``questions`` and perhaps ``unanswerable``.
        databases: Folder of the databases.
        part: Only questions of this kind; for a file, the kind of its questions.
        form: The class of a line.
        make: Makes a question of a line, its name, ``databases``, and whether it is answerable.
        fix: The hint for a file that is missing or invalid.
    """

    def read(file: Path, *, answerable: bool) -> Iterator[QueryQuestion]:
        for number, line in enumerate(read_records(file, form, fix=fix), start=1):
            name = line.id or f"{file.name.partition('.')[0]}-{number}"
            yield make(line, name, databases, answerable)

    if data.is_file():
        part = part or ("unanswerable" if data.name.startswith("unanswerable") else "answerable")
        return [*read(data, answerable=part == "answerable")]
    found: list[QueryQuestion] = []
    if part != "unanswerable":
        found += read(require_file(data, "questions", fix), answerable=True)
    if part == "unanswerable" or (part is None and find_file(data, "unanswerable")):
        found += read(require_file(data, "unanswerable", fix), answerable=False)
    return found


def find_database(folder: Path, name: str) -> Path:
    """Find the file of a database: ``NAME.sql``, ``NAME.sqlite``, ``NAME/NAME.sqlite`` etc."""
    for place in (folder, folder / name):
        for suffix in SUFFIXES:
            if (path := place / f"{name}{suffix}").is_file():
                return path
    raise BadInput(
        f"There is no database {name!r} in {folder}.",
        fix=f"It must be a file {name}.sql, {name}.sqlite or {name}.cypher there.",
    )


def require_file(folder: Path, name: str, fix: str) -> Path:
    """Find a question file of that name in a folder, plain or compressed, or raise."""
    if found := find_file(folder, name):
        return found
    raise BadInput(f"There is no file {name}.jsonl or {name}.jsonl.gz in {folder}.", fix=fix)


def find_file(folder: Path, name: str) -> Path | None:
    """As :func:`require_file`, but None if there is no file."""
    paths = (folder / f"{name}{suffix}" for suffix in (".jsonl", ".jsonl.gz"))
    return next((path for path in paths if path.is_file()), None)


def run_gold(name: str, gold: str, source: Path) -> list[list[JsonValue]]:
    """Run a gold query and return its rows."""
    try:
        result = open_database(str(source)).run(gold, _LIMITS)
    except PlanweaveError as error:
        raise BadInput(
            f"The gold query of the question {name} does not run: {error.problem}",
            fix="Correct it, or give its answer as `answers` (of a graph: `answer`).",
        ) from error
    return [[*row] for row in result.rows]
