"""The typed working memory, its reducers, and the context of a run."""

from memory.context import CitationCheck, Context, ReplanPolicy, SearchMode
from memory.working_memory import (
    Action,
    Answer,
    Claim,
    Fact,
    Failure,
    Input,
    Page,
    Quote,
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
    "CitationCheck",
    "Claim",
    "Context",
    "Fact",
    "Failure",
    "Input",
    "Page",
    "Quote",
    "Replan",
    "ReplanPolicy",
    "SearchMode",
    "Tool",
    "Turn",
    "UsageByRole",
    "Value",
    "WorkingMemory",
    "add_usage",
    "total_usage",
]
