"""Solvers: whatever turns a question about a database into one query."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from planweave.benchmarks.core.play import OnCall
from planweave.memory import Context
from planweave.registry import Registry


@dataclass(frozen=True, kw_only=True)
class QueryTask:
    """One question as a solver gets it.

    Attributes:
        question: In the user's words.
        database: Path or URL, as :func:`planweave.tools.connect.open_database` takes it.
        notes: What is published about the database: how tables join, what abbreviations mean.
        now: The moment at which the question is asked (``2024-06-19 12:00:00``); empty if it does
            not matter.
    """

    question: str
    database: str
    notes: str = ""
    instructions: str = ""
    now: str = ""


@dataclass(frozen=True, kw_only=True)
class Solved:
    """What a solver made of a question.

    Attributes:
        refused: The solver says that the database cannot answer.
        confidence: From 0 to 1; None if the solver has none.
        chance: How likely the model finds it that the rows are the answer; None if not asked.
        trace: Whatever helps to understand the outcome; kept with the result.
    """

    query: str | None
    refused: bool = False
    confidence: float | None = None
    chance: float | None = None
    trace: dict[str, JsonValue] | None = None


Solver: TypeAlias = Callable[[QueryTask, Context, OnCall], Awaitable[Solved]]
"""Takes the task, the settings (model, limits), and what takes each call of a model."""

SOLVERS: Registry[Solver] = Registry(
    "solver",
    accepts=callable,
    own={
        "plain": "planweave.benchmarks.suites.query_writing.plain",
        "plain_repair": "planweave.benchmarks.suites.query_writing.plain",
        "greedy": "planweave.benchmarks.suites.query_writing.writer",
        "guided": "planweave.benchmarks.suites.query_writing.writer",
    },
)
"""Every solver by the name that ``--mode`` calls it; the group is ``planweave.solvers``."""


def register_solver(mode: str) -> Callable[[Solver], Solver]:
    """Decorate the solver that ``--mode`` calls by this name."""
    return lambda solver: SOLVERS.add(mode, solver)
