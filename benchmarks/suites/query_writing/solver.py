"""Solvers, which turn a question about a database into one query."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import JsonValue

from planweave.benchmarks.core.play import OnCall
from planweave.memory import Context
from planweave.registry import Registry


@dataclass(frozen=True, kw_only=True)
class QueryTask:
    """One question for a solver.

    Attributes:
        question: In the user's words.
        database: Path or URL, as :func:`planweave.tools.connect.open_database` takes it.
        notes: Published notes on the database, such as joins of tables and abbreviations.
        now: The time of the question (``2024-06-19 12:00:00``); empty if irrelevant.
    """

    question: str
    database: str
    notes: str = ""
    instructions: str = ""
    now: str = ""


@dataclass(frozen=True, kw_only=True)
class Solved:
    """The result of a solver.

    Attributes:
        refused: Whether the solver reports that the database cannot answer.
        confidence: From 0 to 1; None if the solver has none.
        trace: Anything that explains the outcome; stored with the result.
    """

    query: str | None
    refused: bool = False
    confidence: float | None = None
    trace: dict[str, JsonValue] | None = None


Solver: TypeAlias = Callable[[QueryTask, Context, OnCall], Awaitable[Solved]]
"""Takes the task, the settings (model, limits), and the receiver of model calls."""

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
"""Every solver by its ``--mode`` name; the entry-point group is ``planweave.solvers``."""


def register_solver(mode: str) -> Callable[[Solver], Solver]:
    """Register the decorated solver under its ``--mode`` name."""
    return lambda solver: SOLVERS.add(mode, solver)
