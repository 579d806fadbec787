"""Environments in which plans are carried out: each safe and usable without a language model."""

from planweave.tools.environments.base import (
    OPEN,
    Environment,
    EnvironmentFailed,
    EnvironmentUnavailable,
    Observation,
    Task,
    one_action,
)
from planweave.tools.environments.opening import ENVIRONMENTS, moves, open_environment

__all__ = [
    "ENVIRONMENTS",
    "OPEN",
    "Environment",
    "EnvironmentFailed",
    "EnvironmentUnavailable",
    "Observation",
    "Task",
    "moves",
    "one_action",
    "open_environment",
]
