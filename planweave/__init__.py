"""Agents that plan first and retrieve after: the public interface (docs/api.md).

Only the errors are loaded at once; everything else is loaded at its first use. So ``import
planweave`` is quick, and every layer may import this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from planweave.errors import BadInput, PlanweaveError

if TYPE_CHECKING:
    from planweave.apps.library import Options, arun, astream, confirm, run, stream
    from planweave.graphs.support.events import (
        ActionEvent,
        AnswerEvent,
        ApprovalEvent,
        CallEvent,
        Event,
        FactEvent,
        PlanEvent,
        ProblemEvent,
        ProgressEvent,
        ReplanEvent,
        Result,
        ThoughtEvent,
        TokenEvent,
    )
    from planweave.graphs.support.running import graph
    from planweave.memory import Answer, Claim, Fact, Verdict
    from planweave.memory import Context as Settings
    from planweave.usage import Usage

__all__ = [
    "ActionEvent",
    "Answer",
    "AnswerEvent",
    "ApprovalEvent",
    "BadInput",
    "CallEvent",
    "Claim",
    "Event",
    "Fact",
    "FactEvent",
    "Options",
    "PlanEvent",
    "PlanweaveError",
    "ProblemEvent",
    "ProgressEvent",
    "ReplanEvent",
    "Result",
    "Settings",
    "ThoughtEvent",
    "TokenEvent",
    "Usage",
    "Verdict",
    "__version__",
    "arun",
    "astream",
    "confirm",
    "graph",
    "run",
    "stream",
]
__version__ = "0.2.0"

_LIBRARY = "planweave.apps.library"
_EVENTS = "planweave.graphs.support.events"
_HOMES = {
    **dict.fromkeys(("Options", "arun", "astream", "confirm", "run", "stream"), _LIBRARY),
    **dict.fromkeys((name for name in __all__ if name.endswith("Event")), _EVENTS),
    "Result": _EVENTS,
    "graph": "planweave.graphs.support.running",
    **dict.fromkeys(("Answer", "Claim", "Fact", "Verdict"), "planweave.memory"),
    "Settings": "planweave.memory",
    "Usage": "planweave.usage",
}
"""The module of every name that is loaded at its first use."""


if not TYPE_CHECKING:  # type checkers would accept any name

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'planweave' has no attribute {name!r}")
        found = getattr(import_module(_HOMES[name]), "Context" if name == "Settings" else name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return __all__
