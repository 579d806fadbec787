"""Solvers: whatever turns a question about a database into one query."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TypeAlias

from pydantic import JsonValue

from planweave import BadInput
from planweave.benchmarks.play import OnCall
from planweave.memory import Context

GROUP = "planweave.solvers"
"""Entry-point group: each entry names a solver in an installed package."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One question as a solver gets it.

    Attributes:
        question: In the user's words.
        database: Path or URL, as :func:`planweave.tools.connect.open_database` takes it.
        notes: What is published about the database: how tables join, what abbreviations mean.
        instructions: What holds for this question; empty if nothing does.
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
        query: The query; None if there is none.
        refused: The solver says that the database cannot answer.
        confidence: From 0 to 1; None if the solver has none.
        trace: Whatever helps to understand the outcome; kept with the result.
    """

    query: str | None
    refused: bool = False
    confidence: float | None = None
    trace: dict[str, JsonValue] | None = None


Solver: TypeAlias = Callable[[Task, Context, OnCall], Awaitable[Solved]]
"""Takes the task, the settings (model, limits), and what is told of each call of a model."""

_solvers: dict[str, Solver] = {}


def register_solver(mode: str) -> Callable[[Solver], Solver]:
    """Decorate the solver that ``--mode`` calls by this name."""

    def registered(solver: Solver) -> Solver:
        _solvers[mode] = solver
        return solver

    return registered


def modes() -> tuple[str, ...]:
    """Names of the solvers: our own, registered ones, and those of installed packages."""
    _load_own()
    return tuple(dict.fromkeys((*_solvers, *(entry.name for entry in entry_points(group=GROUP)))))


def solver(mode: str) -> Solver:
    """The solver of that name.

    Raises:
        BadInput: There is none, or the package that brings it is broken.
    """
    _load_own()
    if mode not in _solvers:
        for entry in entry_points(group=GROUP, name=mode):
            _solvers[mode] = _loaded(entry)
    if mode not in _solvers:
        raise BadInput(f"There is no mode {mode!r}.", mend=f"Choose one of {', '.join(modes())}.")
    return _solvers[mode]


def _load_own() -> None:
    """The solvers of this project register themselves when they are imported."""
    import planweave.benchmarks.suites.query_writing.plain
    import planweave.benchmarks.suites.query_writing.writer  # noqa: F401


def _loaded(entry: EntryPoint) -> Solver:
    try:
        found: Solver = entry.load()
    except Exception as error:
        raise BadInput(
            f"The solver {entry.value} cannot be loaded ({type(error).__name__}).",
            mend="Repair or uninstall the package that brings it.",
        ) from error
    return found
