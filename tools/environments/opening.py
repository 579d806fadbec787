"""Environments by name."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

from planweave import BadInput, PlanweaveError
from planweave.registry import Registry
from planweave.tools.environments.base import Environment, EnvironmentUnavailable

Connect: TypeAlias = Callable[[Path | None], Environment]
"""Opens an environment, given its file or folder of data."""

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
        name: What it is called.
        needs: How its data are given, if it cannot be opened without any.
        moves: Actions that only move between its pages and do nothing of a task, such as
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
    try:
        return connect(data)
    except PlanweaveError:
        raise
    except Exception as error:  # a plug-in may raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise EnvironmentUnavailable(
            f"The environment {name} of {connect.__module__} cannot be opened ({reason}).",
            fix="Check the data that it is given, or repair the package that brings it.",
        ) from error


def moves(name: str) -> frozenset[str]:
    """The actions, in small letters, that only move between the pages of an environment."""
    found: frozenset[str] = vars(ENVIRONMENTS.get(name)).get("moves", frozenset())
    return found
