"""Which method answers when nobody names one: by what is connected, and by the class of model.

The rule rests on the table in ``docs/methods.md`` ("Which method answers by default").
"""

from typing import NamedTuple

from planweave.memory import Context


class MethodChoice(NamedTuple):
    """A method, and why it was chosen, as a clause."""

    method: str
    reason: str


def choose(context: Context, *, with_plan: bool = False) -> MethodChoice:
    """The cheapest method that is good enough for the model and the sources."""
    if with_plan or context.approve or context.experience or context.evaluations:
        return MethodChoice("planrag", "it follows a plan")
    if not context.assists("selector"):
        return MethodChoice("planrag", "a capable model plans before it retrieves")
    if context.has_documents:
        return MethodChoice("agent_v1", "a small model answers best from one search")
    return MethodChoice("single_rag", "a small model answers best from one query")
