"""Suites that have solvers write queries, run them, and compare their rows."""

import asyncio
import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from pydantic import JsonValue

from planweave.benchmarks.core.options import Options, listed, published_folder
from planweave.benchmarks.core.play import Memory, OnCall
from planweave.benchmarks.core.record import Record, Score
from planweave.benchmarks.core.suite import Sample, Selection, ShowStatus, Suite, drawn
from planweave.benchmarks.core.table import ReportTable
from planweave.benchmarks.suites.query_writing.compare import match_rows
from planweave.benchmarks.suites.query_writing.question import QueryQuestion, confirm_others
from planweave.benchmarks.suites.query_writing.shown import rows_verdict
from planweave.benchmarks.suites.query_writing.solver import SOLVERS, QueryTask, Solved
from planweave.benchmarks.suites.query_writing.tables import CAPTION, draw_accuracy, query_tables
from planweave.memory import Answer, Context
from planweave.texts import digest
from planweave.tools.connect import open_database
from planweave.tools.database import Limits, QueryFailed, QueryRefused, QueryTimeout
from planweave.tools.result_text import one_line

QueryGrade: TypeAlias = Literal["right", "wrong", "failed", "refused", "empty", "answered"]
"""Of a question that can be answered: right, wrong, failed (no query that runs), refused. Of one
that cannot: refused (right), answered (rows came back), empty (no row), failed."""

_ROWS = 1_000
_CHARACTERS = 500_000
_LEAST_SIMILARITY = 0.8


@dataclass(frozen=True, kw_only=True)
class QueryOptions(Options):
    """Options of the suite."""

    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the questions, or a question file; see PLANWEAVE_PUBLISHED."),
    ] = None
    method: Annotated[
        str, typer.Option("--mode", help="Comma-separated ways of writing the query, or all.")
    ] = "plain"


class QuerySuite(Suite):
    """One query for each question; each mode of writing queries is a method."""

    caption = CAPTION
    draw = staticmethod(draw_accuracy)

    @abstractmethod
    def questions(self, options: Any, data: Path) -> list[QueryQuestion]:
        """Load the questions of a folder or file."""

    def select(self, options: Any, context: Context, status: ShowStatus) -> Selection:
        """Samples of every mode and question, except questions whose answer ties leave open.

        With ``confirmed_queries``, the gold queries of the other questions count as confirmed.
        """
        modes = listed(options.method, SOLVERS.names(), "mode")
        data = options.data or published_folder(self.name)
        questions = self.questions(options, data)
        if context.confirmed_queries:
            questions = confirm_others(questions, context.confirmed_queries)
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

        The decision is what :func:`solve` returns, as JSON.
        """
        outcome = await solve(sample, sample.target.task, on_call)
        written = outcome.model_dump_json()
        answer = Answer(decision=written, why="", facts=[], unknown=outcome.problem)
        return {"answer": answer, "outcome": outcome}

    async def score(self, sample: Sample, memory: Memory, on_call: OnCall) -> Score:
        """See :func:`score_outcome`; the details also hold the verdict that a user sees."""
        outcome = memory.get("outcome")
        found = score_outcome(sample.target, outcome)
        found.details["shown"] = rows_verdict(sample.target, outcome, sample.context)
        return found

    def tables(self, records: Sequence[Record]) -> list[ReportTable]:
        """Results, cost of the prompts, questions that cannot be answered, confidence."""
        return query_tables(records)


def samples(
    suite: str, questions: Iterable[QueryQuestion], *, modes: Sequence[str], settings: Context
) -> list[Sample]:
    """Samples of every question and solver: solver by solver, database by database.

    Questions about one database follow each other, so that a model's server reads the schema once.
    No solver profits from another one's cache.
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
            content=question_digest(question),
            target=question,
        )
        for mode in modes
        for question in ordered
    ]


def question_digest(question: QueryQuestion) -> str:
    """Digest of the question and its answers, without the path of the database."""
    return digest(question.model_dump_json(exclude={"source"}))


def score_outcome(question: QueryQuestion, outcome: Solved | None) -> Score:
    """1 for rows that match an accepted answer, or for a refusal if there is none."""
    result, details = _grade(question, outcome)
    good = result == ("right" if question.answerable else "refused")
    query = outcome.query if outcome else None
    text = query or ""
    if outcome and result == "failed":
        text = f"{outcome.problem} {text}"
    return Score(
        value=float(good),
        answer=query,
        explanation=f"{result}: {one_line(text)[:200]}",
        details={
            "result": result,
            "answerable": question.answerable,
            "category": question.category,
            "database": question.database,
            "confidence": outcome.confidence if outcome else None,
            "executed": outcome is not None and outcome.rows is not None,
            **details,
        },
    )


def _grade(
    question: QueryQuestion, outcome: Solved | None
) -> tuple[QueryGrade, dict[str, JsonValue]]:
    if outcome and (_has_refused(outcome) or is_sentence(outcome.rows or (), question.refusal)):
        return "refused", {}
    if outcome is None or outcome.rows is None:
        return "failed", {}
    if not question.answerable:
        has_value = any(cell is not None for row in outcome.rows for cell in row)
        return "answered" if has_value else "empty", {}
    if outcome.problem:
        return "wrong", {}
    right, reading, narrower = match_rows(outcome.rows, question.readings)
    only_order = not right and reading is not None
    return "right" if right else "wrong", {
        "reading": reading,
        "only_order": only_order,
        "narrower": right and narrower,
    }


async def solve(sample: Sample, task: QueryTask, on_call: OnCall) -> Solved:
    """Have the solver that the sample's method names write a query, and run it."""
    solved = await SOLVERS.get(sample.method)(task, sample.context, on_call)
    return await asyncio.to_thread(run_query, solved, task.database, sample.context)


def run_query(solved: Solved, source: str, context: Context) -> Solved:
    """Run the query of a solver."""
    if _has_refused(solved):
        return solved
    limits = Limits(seconds=context.query_seconds, rows=_ROWS, characters=_CHARACTERS)
    try:
        result = open_database(source).run(solved.query or "", limits)
    except (QueryFailed, QueryRefused, QueryTimeout) as error:
        return solved.model_copy(update={"rows": None, "problem": error.problem})
    problem = "The result is too long to compare." if result.truncated else ""
    found = {"columns": result.columns, "rows": result.rows, "problem": problem}
    return solved.model_copy(update=found)


def is_sentence(rows: Sequence[Sequence[JsonValue]], sentence: str) -> bool:
    """Whether a result is only this sentence, up to a few letters."""
    if not sentence or len(rows) != 1 or len(rows[0]) != 1 or not isinstance(rows[0][0], str):
        return False
    return (
        SequenceMatcher(None, _normalise(rows[0][0]), _normalise(sentence)).ratio()
        >= _LEAST_SIMILARITY
    )


def _normalise(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def _has_refused(outcome: Solved) -> bool:
    return outcome.refused or outcome.query is None
