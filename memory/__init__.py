"""The typed working memory, its reducers, and the context of a run."""

from memory.context import Context, ReplanPolicy
from memory.working_memory import (
    Action,
    Answer,
    Fact,
    Failure,
    Input,
    Replan,
    Tool,
    Turn,
    UsageByRole,
    Value,
    WorkingMemory,
    add_usage,
    total_usage,
)

__all__ = [
    "Action",
    "Answer",
    "Context",
    "Fact",
    "Failure",
    "Input",
    "Replan",
    "ReplanPolicy",
    "Tool",
    "Turn",
    "UsageByRole",
    "Value",
    "WorkingMemory",
    "add_usage",
    "total_usage",
]
