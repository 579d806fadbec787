"""Solvers, which turn a question about a database into one query."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from pydantic import BaseModel, JsonValue

from planweave.benchmarks.core.play import OnCall
from planweave.memory import Context
from planweave.nodes.assist.query_writer import Need
from planweave.registry import Registry


class QueryTask(NamedTuple):
    """One question for a solver.

    Attributes:
        need: The question; the published notes on the database, such as joins of tables, are its
            ``background``.
        database: Path or URL for :func:`planweave.tools.connect.open_database`.
    """

    need: Need
    database: str


class Solved(BaseModel, frozen=True):
    """The result of a solver; the last three attributes are set when its query has run.

    Attributes:
        refused: Whether the solver reports that the database cannot answer.
        confidence: From 0 to 1; None if the solver has none.
        trace: Anything that explains the outcome; stored with the result.
        doubts: What speaks against the query, by schema and data.
        rows: None if the query did not run.
        problem: Why it did not run, or why rows are missing.
    """

    query: str | None
    refused: bool = False
    confidence: float | None = None
    trace: dict[str, JsonValue] | None = None
    doubts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[JsonValue, ...], ...] | None = None
    problem: str = ""


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
