"""Questions about databases with their accepted queries.

A folder has ``questions.jsonl[.gz]``, ``unanswerable.jsonl[.gz]`` if there are such questions, and
``databases/`` (NAME.sql or NAME.sqlite) or ``graphs/`` (NAME.cypher or NAME.cql), optionally with
NAME.glossary.txt next to the database. A question needs ``database`` (or ``db_id``, ``graph``),
``question``, and ``golds`` (or one ``gold``, ``query`` or ``SQL``). If ``answers`` (or one
``answer``) are missing, the golds are run.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, Field, JsonValue, model_validator

from planweave import BadInput, PlanweaveError
from planweave.benchmarks.suites.query_writing.compare import AcceptedQuery, Ties
from planweave.benchmarks.suites.query_writing.solver import QueryTask
from planweave.learning.queries.memory import likeness
from planweave.nodes.assist.confirmed import ConfirmedQuery
from planweave.nodes.assist.query_writer import Need
from planweave.records import read_records, read_text
from planweave.tools.connect import is_graph, open_database
from planweave.tools.database import Limits

_SUFFIXES = (".sql", ".sqlite", ".db", ".cypher", ".cql")
_LIMITS = Limits(seconds=60, rows=100_000, characters=50_000_000)
_FIX = "Give a folder of questions.jsonl and databases/ or graphs/, or a question file next to it."
_SENTENCE = re.compile(r"'((?:[^']|'')*)'")
_LAST_RETURN = re.compile(r"\bRETURN\b(?!.*\bRETURN\b)(.*)", re.IGNORECASE | re.DOTALL)
_ORDER_BY = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)
_AGREEMENT = {True: "golds agree", False: "golds differ", None: "one gold"}

QuestionPart: TypeAlias = Literal["answerable", "unanswerable"]


class QueryQuestion(BaseModel, frozen=True):
    """One question of any published file."""

    id: str  # unique in its file
    group: str  # the part of the set
    category: str = ""  # as published
    database: str
    source: str  # path of the database
    question: str
    notes: str = ""  # published notes about the database
    instructions: str = ""
    now: str = ""
    readings: tuple[AcceptedQuery, ...] = ()  # accepted queries; none if the database cannot answer
    refusal: str = ""  # the sentence for such questions that the instructions demand
    confirmed: tuple[ConfirmedQuery, ...] = Field(default=(), exclude=True)  # shown to the writer

    @property
    def answerable(self) -> bool:
        """Whether the database can answer it."""
        return bool(self.readings)

    @property
    def decides(self) -> bool:
        """Whether rows distinguish a right answer from a wrong one."""
        return not self.readings or any(reading.decides for reading in self.readings)

    @property
    def task(self) -> QueryTask:
        """The question in a solver's form."""
        need = Need(
            question=self.question,
            instructions=self.instructions,
            background=self.notes,
            now=self.now,
            confirmed=self.confirmed,
        )
        return QueryTask(need, self.source)


def confirm_others(questions: Sequence[QueryQuestion], most: int) -> list[QueryQuestion]:
    """Add the first gold queries of the most similar other questions to the same database.

    The product also requires some likeness for graphs.
    """

    def nearest(asked: QueryQuestion) -> tuple[ConfirmedQuery, ...]:
        others = [
            ConfirmedQuery(one.question, one.readings[0].query)
            for one in questions
            if one.readings and one.database == asked.database and one.id != asked.id
        ]
        return tuple(sorted(others, key=lambda one: likeness(asked.question, one.question))[-most:])

    return [one.model_copy(update={"confirmed": nearest(one)}) for one in questions]


class _Line(BaseModel):
    """A line of a question file; a null counts as a missing field."""

    id: str = Field("", coerce_numbers_to_str=True)
    set: str = Field("questions", validation_alias=AliasChoices("set", "type"))
    category: str = ""
    database: str = Field(validation_alias=AliasChoices("database", "db_id", "graph"))
    question: str
    instructions: str = Field("", validation_alias=AliasChoices("instructions", "evidence"))
    now: str = ""
    golds: tuple[str, ...] = ()
    gold: str = Field("", validation_alias=AliasChoices("gold", "query", "SQL"))
    answers: list[list[list[JsonValue]]] | None = None
    ordered: list[bool] | None = None
    ties: list[Ties] | None = None
    agree: bool | None = None  # whether the golds of a graph's two authors return the same

    @model_validator(mode="before")
    @classmethod
    def _with_lists(cls, data: Any) -> Any:
        """Without nulls, and with lists in place of the fields of a single gold."""
        if not isinstance(data, dict):
            return data
        found = {name: value for name, value in data.items() if value is not None}
        if isinstance(found.get("answer"), list):
            found.setdefault("answers", [found["answer"]])
        for name in ("ordered", "ties"):
            if isinstance(found.get(name), bool | str):
                found[name] = [found[name]]
        return found


def load(
    data: Path,
    part: QuestionPart | None = None,
    databases: Path | None = None,
    *,
    near: Sequence[str] = ("databases", "graphs"),
) -> list[QueryQuestion]:
    """Load the questions of a folder or file.

    Args:
        data: A question file, or a folder with ``questions`` and perhaps ``unanswerable``.
        part: Only questions of this kind; for a file, the kind of its questions.
        databases: Folder of the databases; if unset, the first of ``near`` next to the questions.
        near: Names of folders.
    """
    folder = data if data.is_dir() else data.parent
    places = [folder / name for name in near]
    databases = databases or next((place for place in places if place.is_dir()), places[0])

    def read(file: Path, *, answerable: bool) -> Iterator[QueryQuestion]:
        for number, line in enumerate(read_records(file, _Line, fix=_FIX), start=1):
            name = line.id or f"{file.name.partition('.')[0]}-{number}"
            yield _make_question(line, name, databases, answerable)

    if data.is_file():
        part = part or ("unanswerable" if data.name.startswith("unanswerable") else "answerable")
        return [*read(data, answerable=part == "answerable")]
    found: list[QueryQuestion] = []
    if part != "unanswerable":
        found += read(require_file(data, "questions", _FIX), answerable=True)
    if part == "unanswerable" or (part is None and find_file(data, "unanswerable")):
        found += read(require_file(data, "unanswerable", _FIX), answerable=False)
    return found


def _make_question(line: _Line, name: str, databases: Path, answerable: bool) -> QueryQuestion:
    source = find_database(databases, line.database)
    return QueryQuestion(
        id=name,
        group=line.set if answerable else "unanswerable",
        category=_AGREEMENT[line.agree] if is_graph(str(source)) else line.category,
        database=line.database,
        source=str(source),
        question=line.question,
        notes=_notes(databases, line.database),
        instructions=line.instructions,
        now=line.now,
        readings=_accepted_queries(name, line, str(source)) if answerable else (),
        refusal="" if answerable else _selected_sentence(line.gold),
    )


def _notes(databases: Path, name: str) -> str:
    glossary = databases / f"{name}.glossary.txt"
    return read_text(glossary, fix=_FIX).strip() if glossary.is_file() else ""


def _accepted_queries(name: str, line: _Line, source: str) -> tuple[AcceptedQuery, ...]:
    golds = line.golds or (line.gold,)
    if not all(golds):
        raise BadInput(f"The question {name} has no gold query.", fix=_FIX)
    answers = line.answers or [_run_gold(name, gold, source) for gold in golds]
    ordered = line.ordered or [_has_order(name, gold, source) for gold in golds]
    ties = line.ties or [None] * len(golds)
    if not len(golds) == len(answers) == len(ordered) == len(ties):
        raise BadInput(
            f"The question {name} has {len(golds)} golds, {len(answers)} answers, {len(ordered)} "
            f"marks of order and {len(ties)} of ties.",
            fix="Give one of each for every gold.",
        )
    # The two authors of the published questions about graphs chose different columns.
    narrower = is_graph(source)
    return tuple(
        AcceptedQuery(
            query=gold,
            rows=tuple(map(tuple, rows)),
            ordered=is_ordered,
            ties=tie,
            narrower=narrower,
        )
        for gold, rows, is_ordered, tie in zip(golds, answers, ordered, ties, strict=True)
    )


def _has_order(name: str, gold: str, source: str) -> bool:
    """Whether the last RETURN of a Cypher query sorts, or the outermost SELECT of an SQL query."""
    if is_graph(source):
        found = _LAST_RETURN.search(gold)
        return found is not None and _ORDER_BY.search(found[1]) is not None
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


def find_database(folder: Path, name: str) -> Path:
    """Find the file of a database: ``NAME.sql``, ``NAME.sqlite``, ``NAME/NAME.sqlite`` etc."""
    for place in (folder, folder / name):
        for suffix in _SUFFIXES:
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


def _run_gold(name: str, gold: str, source: str) -> list[list[JsonValue]]:
    try:
        result = open_database(source).run(gold, _LIMITS)
    except PlanweaveError as error:
        raise BadInput(
            f"The gold query of the question {name} does not run: {error.problem}",
            fix="Correct it, or give its rows as `answers` (of one gold: `answer`).",
        ) from error
    return [[*row] for row in result.rows]
