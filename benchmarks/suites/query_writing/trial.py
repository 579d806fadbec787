"""One question put to one solver: its query is run, and its rows are compared."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Literal, TypeAlias

from pydantic import BaseModel, JsonValue, ValidationError

from planweave.benchmarks.core.play import OnCall
from planweave.benchmarks.core.record import Score
from planweave.benchmarks.core.suite import Sample
from planweave.benchmarks.suites.query_writing.compare import match
from planweave.benchmarks.suites.query_writing.question import Question
from planweave.benchmarks.suites.query_writing.solver import SOLVERS, Solved, Task
from planweave.memory import Answer, Context, WorkingMemory
from planweave.tools.connect import open_database
from planweave.tools.database import Cell, Limits, QueryFailed, QueryRefused, QueryTimeout
from planweave.tools.result_text import one_line

Result: TypeAlias = Literal["right", "wrong", "failed", "refused", "empty", "answered"]
"""Of a question that can be answered: right, wrong, failed (no query that runs), refused. Of one
that cannot: refused (right), answered (rows came back), empty (no row), failed."""

_ROWS = 1_000
_CHARACTERS = 500_000
_LIKE = 0.8


class Outcome(BaseModel):
    """What came of a question.

    Attributes:
        rows: What the query returned; None if it did not run.
        problem: Why it did not, or why its rows are not all there.
    """

    query: str | None
    refused: bool
    confidence: float | None
    trace: dict[str, JsonValue] | None
    rows: tuple[tuple[JsonValue, ...], ...] | None = None
    problem: str = ""


def samples(
    suite: str, questions: Iterable[Question], *, modes: Sequence[str], settings: Context
) -> list[Sample]:
    """Every question with every solver: solver by solver, database by database.

    Questions about one database follow each other, as those of a user do, so that a model's server
    reads the schema once. No solver profits from what another has left there.
    """
    trials = [Trial(question) for question in sorted(questions, key=lambda one: one.database)]
    return [
        Sample(
            suite=suite,
            question=trial.question.id,
            scenario=trial.question.group,
            method=mode,
            database="",
            asked=trial.question.question,
            context=settings,
            content=trial.content,
            judge=trial.score,
            play=trial.play,
        )
        for mode in modes
        for trial in trials
    ]


@dataclass(frozen=True)
class Trial:
    """A question to be answered by a query."""

    question: Question

    @property
    def content(self) -> str:
        """Digest of the question and its answers; where the database lies is no part of it."""
        text = self.question.model_dump_json(exclude={"source"})
        return sha256(text.encode()).hexdigest()[:16]

    async def play(self, sample: Sample, on_call: OnCall) -> WorkingMemory:
        """Have the solver that the sample's method names write the query, and run it.

        The decision is the :class:`Outcome`, as JSON.
        """
        question = self.question
        task = Task(
            question=question.question,
            database=question.source,
            notes=question.notes,
            instructions=question.instructions,
            now=question.now,
        )
        solved = await SOLVERS.get(sample.method)(task, sample.context, on_call)
        outcome = await asyncio.to_thread(run, solved, question.source, sample.context)
        said = outcome.model_dump_json()
        return {"answer": Answer(decision=said, why="", facts=[], unknown=outcome.problem)}

    def score(self, answer: Answer | None) -> Score:
        """1 for rows that match an accepted answer, or for a refusal where there is none."""
        outcome = _outcome(answer)
        judged = self._answerable(outcome) if self.question.answerable else self._other(outcome)
        result, details = judged
        good = result == ("right" if self.question.answerable else "refused")
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
                "answerable": self.question.answerable,
                "category": self.question.category,
                "database": self.question.database,
                "confidence": outcome.confidence if outcome else None,
                "executed": outcome is not None and outcome.rows is not None,
                **details,
            },
        )

    def _answerable(self, outcome: Outcome | None) -> tuple[Result, dict[str, JsonValue]]:
        if outcome and _has_refused(outcome):
            return "refused", {}
        if outcome is None or outcome.rows is None:
            return "failed", {}
        if outcome.problem:
            return "wrong", {}
        right, reading, narrower = match(outcome.rows, self.question.readings)
        details: dict[str, JsonValue] = {
            "reading": reading,
            "only_order": not right and reading is not None,
            "narrower": right and narrower,
        }
        return "right" if right else "wrong", details

    def _other(self, outcome: Outcome | None) -> tuple[Result, dict[str, JsonValue]]:
        if outcome and (_has_refused(outcome) or says(outcome.rows or (), self.question.refusal)):
            return "refused", {}
        if outcome is None or outcome.rows is None:
            return "failed", {}
        has_value = any(cell is not None for row in outcome.rows for cell in row)
        return "answered" if has_value else "empty", {}


def run(solved: Solved, source: str, context: Context) -> Outcome:
    """Run the query that was written.

    Raises:
        DatabaseUnavailable: The database of the question cannot be opened.
    """
    outcome = Outcome(
        query=solved.query,
        refused=solved.refused,
        confidence=solved.confidence,
        trace=solved.trace,
    )
    if _has_refused(outcome):
        return outcome
    limits = Limits(seconds=context.query_seconds, rows=_ROWS, characters=_CHARACTERS)
    try:
        result = open_database(source).run(solved.query or "", limits)
    except (QueryFailed, QueryRefused, QueryTimeout) as error:
        return outcome.model_copy(update={"problem": error.problem})
    problem = "The result is too long to be compared." if result.truncated else ""
    rows: tuple[tuple[Cell, ...], ...] = result.rows
    return outcome.model_copy(update={"rows": rows, "problem": problem})


def says(rows: Sequence[Sequence[JsonValue]], sentence: str) -> bool:
    """Whether a result is this sentence and nothing else, give or take a few letters."""
    if not sentence or len(rows) != 1 or len(rows[0]) != 1 or not isinstance(rows[0][0], str):
        return False
    return SequenceMatcher(None, _plain(rows[0][0]), _plain(sentence)).ratio() >= _LIKE


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def _has_refused(outcome: Outcome) -> bool:
    return outcome.refused or outcome.query is None


def _outcome(answer: Answer | None) -> Outcome | None:
    said = answer["decision"] if answer else None
    try:
        return Outcome.model_validate_json(said) if said else None
    except ValidationError:
        return None
