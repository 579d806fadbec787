"""The typed working memory, its reducers, and the context of a run."""

from memory.context import Context, ReplanPolicy
from memory.working_memory import (
    Action,
    Answer,
    Fact,
    Failure,
    Input,
    Replan,
    Spent,
    Tool,
    Turn,
    Value,
    WorkingMemory,
    add_spent,
    total_spent,
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
    "Spent",
    "Tool",
    "Turn",
    "Value",
    "WorkingMemory",
    "add_spent",
    "total_spent",
]
