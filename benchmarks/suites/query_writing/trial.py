"""Questions put to solvers: each query is run, and its rows are compared."""

import asyncio
import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from pydantic import BaseModel, JsonValue

from planweave.benchmarks.core.options import Options, listed, published_folder
from planweave.benchmarks.core.play import Memory, OnCall
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Sample, Selection, ShowStatus, Suite, drawn
from planweave.benchmarks.core.table import ReportTable
from planweave.benchmarks.suites.query_writing.compare import match
from planweave.benchmarks.suites.query_writing.question import QueryQuestion
from planweave.benchmarks.suites.query_writing.shown import shown
from planweave.benchmarks.suites.query_writing.solver import SOLVERS, QueryTask, Solved
from planweave.benchmarks.suites.query_writing.tables import CAPTION, draw_accuracy, query_tables
from planweave.memory import Answer, Context
from planweave.texts import digest
from planweave.tools.connect import open_database
from planweave.tools.database import Cell, Limits, QueryFailed, QueryRefused, QueryTimeout
from planweave.tools.result_text import one_line

QueryGrade: TypeAlias = Literal["right", "wrong", "failed", "refused", "empty", "answered"]
"""Of a question that can be answered: right, wrong, failed (no query that runs), refused. Of one
that cannot: refused (right), answered (rows came back), empty (no row), failed."""

_ROWS = 1_000
_CHARACTERS = 500_000
_LIKE = 0.8


class QueryOutcome(BaseModel):
    """What came of a question."""

    query: str | None
    refused: bool
    confidence: float | None
    chance: float | None
    trace: dict[str, JsonValue] | None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[JsonValue, ...], ...] | None = None  # None if it did not run
    problem: str = ""  # why it did not, or why its rows are not all there


@dataclass(frozen=True, kw_only=True)
class QueryOptions(Options):
    """What may be chosen."""

    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the questions, or a question file; see PLANWEAVE_PUBLISHED."),
    ] = None
    method: Annotated[
        str, typer.Option("--mode", help="Ways of writing the query, with commas between, or all.")
    ] = "plain"


class QuerySuite(Suite):
    """One query for each question; each mode of writing queries is a method."""

    caption = CAPTION
    draw = staticmethod(draw_accuracy)

    @abstractmethod
    def questions(self, options: Any, data: Path) -> list[QueryQuestion]:
        """The questions of a folder or file."""

    def select(self, options: Any, context: Context, status: ShowStatus) -> Selection:
        """The questions whose answer is decided, with every mode."""
        modes = listed(options.method, SOLVERS.names(), "mode")
        data = options.data or published_folder(self.name)
        questions = self.questions(options, data)
        deciding = [question for question in questions if question.decides]
        left = len(questions) - len(deciding)
        skipped = f"{left} questions are" if left > 1 else "1 question is"
        note = f"{skipped} skipped: ties leave open which rows are the answer."
        chosen = drawn(deciding, options.limit, options.seed, lambda question: question.id)
        return Selection(
            samples=samples(self.name, chosen, modes=modes, settings=context),
            about=options.about(name=data.name, questions=len(questions), chosen=len(chosen)),
            notes=[note] if left else [],
        )

    async def play(self, sample: Sample, on_call: OnCall) -> Memory:
        """Have the solver that the sample's method names write the query, and run it.

        The decision is the :class:`QueryOutcome`, as JSON.
        """
        question: QueryQuestion = sample.target
        task = QueryTask(
            question=question.question,
            database=question.source,
            notes=question.notes,
            instructions=question.instructions,
            now=question.now,
        )
        outcome = await solve(sample, task, on_call)
        written = outcome.model_dump_json()
        answer = Answer(decision=written, why="", facts=[], unknown=outcome.problem)
        return {"answer": answer, "outcome": outcome}

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """See :func:`scored`; beside it stands what a person would see of the rows."""
        outcome = memory.get("outcome")
        found = scored(sample.target, outcome)
        found.details["shown"] = shown(sample.target, outcome, sample.context)
        return found

    def tables(self, records: Sequence[Record]) -> list[ReportTable]:
        """Results, cost of the prompts, questions that cannot be answered, confidence."""
        return query_tables(records)


def samples(
    suite: str, questions: Iterable[QueryQuestion], *, modes: Sequence[str], settings: Context
) -> list[Sample]:
    """Every question with every solver: solver by solver, database by database.

    Questions about one database follow each other, as those of a user do, so that a model's server
    reads the schema once. No solver profits from what another has left there.
    """
    ordered = sorted(questions, key=lambda one: one.database)
    return [
        Sample(
            suite=suite,
            question=question.id,
            scenario=question.group,
            method=mode,
            asked=question.question,
            context=settings,
            content=content_of(question),
            target=question,
        )
        for mode in modes
        for question in ordered
    ]


def content_of(question: QueryQuestion) -> str:
    """Digest of the question and its answers; where the database lies is no part of it."""
    return digest(question.model_dump_json(exclude={"source"}))


def scored(question: QueryQuestion, outcome: QueryOutcome | None) -> Score:
    """1 for rows that match an accepted answer, or for a refusal where there is none."""
    judged = _answerable(question, outcome) if question.answerable else _other(question, outcome)
    result, details = judged
    good = result == ("right" if question.answerable else "refused")
    query = outcome.query if outcome else None
    shown = query or ""
    if outcome and result == "failed":
        shown = f"{outcome.problem} {shown}"
    return Score(
        value=float(good),
        answer=query,
        explanation=f"{result}: {one_line(shown)[:200]}",
        details={
            "result": result,
            "answerable": question.answerable,
            "category": question.category,
            "database": question.database,
            "confidence": outcome.confidence if outcome else None,
            "chance": outcome.chance if outcome else None,
            "executed": outcome is not None and outcome.rows is not None,
            **details,
        },
    )


def _answerable(
    question: QueryQuestion, outcome: QueryOutcome | None
) -> tuple[QueryGrade, dict[str, JsonValue]]:
    if outcome and _has_refused(outcome):
        return "refused", {}
    if outcome is None or outcome.rows is None:
        return "failed", {}
    if outcome.problem:
        return "wrong", {}
    right, reading, narrower = match(outcome.rows, question.readings)
    details: dict[str, JsonValue] = {
        "reading": reading,
        "only_order": not right and reading is not None,
        "narrower": right and narrower,
    }
    return "right" if right else "wrong", details


def _other(
    question: QueryQuestion, outcome: QueryOutcome | None
) -> tuple[QueryGrade, dict[str, JsonValue]]:
    if outcome and (_has_refused(outcome) or says(outcome.rows or (), question.refusal)):
        return "refused", {}
    if outcome is None or outcome.rows is None:
        return "failed", {}
    has_value = any(cell is not None for row in outcome.rows for cell in row)
    return "answered" if has_value else "empty", {}


async def solve(sample: Sample, task: QueryTask, on_call: OnCall) -> QueryOutcome:
    """Have the solver that the sample's method names write a query, and run it."""
    solved = await SOLVERS.get(sample.method)(task, sample.context, on_call)
    return await asyncio.to_thread(run, solved, task.database, sample.context)


def run(solved: Solved, source: str, context: Context) -> QueryOutcome:
    """Run the query that was written."""
    outcome = QueryOutcome(**asdict(solved))
    if _has_refused(outcome):
        return outcome
    limits = Limits(seconds=context.query_seconds, rows=_ROWS, characters=_CHARACTERS)
    try:
        result = open_database(source).run(solved.query or "", limits)
    except (QueryFailed, QueryRefused, QueryTimeout) as error:
        return outcome.model_copy(update={"problem": error.problem})
    problem = "The result is too long to be compared." if result.truncated else ""
    rows: tuple[tuple[Cell, ...], ...] = result.rows
    found = {"columns": result.columns, "rows": rows, "problem": problem}
    return outcome.model_copy(update=found)


def says(rows: Sequence[Sequence[JsonValue]], sentence: str) -> bool:
    """Whether a result is this sentence and nothing else, give or take a few letters."""
    if not sentence or len(rows) != 1 or len(rows[0]) != 1 or not isinstance(rows[0][0], str):
        return False
    return SequenceMatcher(None, _plain(rows[0][0]), _plain(sentence)).ratio() >= _LIKE


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def _has_refused(outcome: QueryOutcome) -> bool:
    return outcome.refused or outcome.query is None
