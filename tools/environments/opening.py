"""Environments by name."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from planweave import BadInput, PlanweaveError
from planweave.registry import Registry
from planweave.tools.environments.base import (
    Environment,
    EnvironmentFailed,
    EnvironmentUnavailable,
    Observation,
    Task,
)

Connect: TypeAlias = Callable[[Path | None], Environment]
"""Opens an environment, given its file or folder of data."""

_log = logging.getLogger(__name__)

Opens = TypeVar("Opens", bound=Callable[..., object])

ENVIRONMENTS: Registry[Connect] = Registry(
    "environment",
    accepts=callable,
    own={
        name: f"planweave.tools.environments.{name}"
        for name in ("hotpotqa", "webshop", "alfworld", "scienceworld")
    },
)
"""Every environment by name; the entry-point group is ``planweave.environments``."""


def environment(
    name: str, *, needs: str = "", moves: Iterable[str] = ()
) -> Callable[[Opens], Opens]:
    """Decorate the function that opens the environment called ``name``.

    Args:
        name: Its name.
        needs: How to give its data, if it needs any.
        moves: Actions that only move between its pages and do no part of a task, such as
            ``click[Back to Search]``.
    """

    def registered(connect: Opens) -> Opens:
        vars(connect)["needs"] = needs
        vars(connect)["moves"] = frozenset(action.lower() for action in moves)
        ENVIRONMENTS.add(name, cast("Connect", connect))
        return connect

    return registered


def open_environment(name: str, data: Path | None = None) -> Environment:
    """Open an environment by name; close it, or use it in a ``with`` statement.

    Raises:
        BadInput: There is no such environment, or its data are missing or cannot be read.
        EnvironmentUnavailable: Its library or program is missing, or it fails to open.
    """
    connect = ENVIRONMENTS.get(name)
    if data is None and (fix := vars(connect).get("needs")):
        raise BadInput(f"The environment {name} needs its data.", fix=fix)
    plug_in = f"The environment {name} of {connect.__module__}"
    with _report_errors(f"{plug_in} cannot be opened", EnvironmentUnavailable):
        opened = connect(data)
    is_ours = connect.__module__.startswith("planweave.")
    return opened if is_ours else _PlugIn(opened, plug_in)


class _PlugIn(Environment):
    """An environment of another package: any error that it raises becomes a ``PlanweaveError``."""

    def __init__(self, environment: Environment, label: str) -> None:
        self.name = environment.name
        self._environment = environment
        self._label = label

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)

    def tasks(self, split: str = "") -> Sequence[Task]:
        with _report_errors(f"{self._label} cannot list its tasks", EnvironmentUnavailable):
            return self._environment.tasks(split)

    def described(self, task: Task) -> Task:
        with self._report_failure("describe"):
            return self._environment.described(task)

    def reset(self, task: Task) -> Observation:
        with self._report_failure("begin"):
            return self._environment.reset(task)

    def step(self, action: str) -> Observation:
        with self._report_failure("go on with"):
            return self._environment.step(action)

    def admissible(self) -> tuple[str, ...]:
        with self._report_failure("list the actions of"):
            return self._environment.admissible()

    def close(self) -> None:
        try:
            self._environment.close()
        except Exception:  # its observations still count
            _log.exception("%s cannot be closed", self._label)

    def _report_failure(self, what: str) -> AbstractContextManager[None]:
        return _report_errors(f"{self._label} cannot {what} its task", EnvironmentFailed)


@contextmanager
def _report_errors(problem: str, kind: type[PlanweaveError]) -> Iterator[None]:
    """Report any error of a plug-in as one sentence."""
    try:
        yield
    except PlanweaveError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise kind(
            f"{problem} ({reason}).",
            fix="Check the data that it is given, or repair the package that brings it.",
        ) from error


def moves(name: str) -> frozenset[str]:
    """The actions, in lower case, that only move between the pages of an environment."""
    found: frozenset[str] = vars(ENVIRONMENTS.get(name)).get("moves", frozenset())
    return found
