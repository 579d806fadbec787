"""Chooses the method when the user names none: by the connected sources and the model.

The rule rests on the table in ``docs/methods.md`` ("Which method answers by default").
"""

from typing import NamedTuple

from planweave.memory import Context


class MethodChoice(NamedTuple):
    """A method, and the reason for the choice as a clause."""

    method: str
    reason: str


def choose(context: Context, *, with_plan: bool = False) -> MethodChoice:
    """Choose the cheapest method that is good enough for the model and the sources."""
    if with_plan or context.approve or context.experience or context.evaluations:
        return MethodChoice("planrag", "it follows a plan")
    if not context.assists("selector"):
        return MethodChoice("planrag", "a capable model plans before it retrieves")
    if context.has_documents:
        return MethodChoice("agent_v1", "a small model answers best from one search")
    return MethodChoice("single_rag", "a small model answers best from one query")
