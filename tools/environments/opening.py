"""Environments by name."""

from importlib import import_module
from pathlib import Path
from typing import cast

from planweave import BadInput
from planweave.tools.environments.base import Environment

ENVIRONMENTS = ("hotpotqa", "webshop", "alfworld", "scienceworld", "decision")
"""Each is a module of this package with a function ``connect(data)``."""


def open_environment(name: str, data: Path | None = None) -> Environment:
    """Open an environment; close it, or use it in a ``with`` statement.

    Args:
        name: One of ``ENVIRONMENTS``.
        data: Its file or folder of data, for those that need one.

    Raises:
        BadInput: There is no such environment, or its data cannot be read.
        EnvironmentUnavailable: Its library or program is missing.
    """
    if name not in ENVIRONMENTS:
        raise BadInput(
            f"There is no environment {name!r}.",
            mend=f"The environments are: {', '.join(ENVIRONMENTS)}.",
        )
    return cast("Environment", import_module(f"planweave.tools.environments.{name}").connect(data))
