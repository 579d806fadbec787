"""Which method answers when nobody names one: by what is connected, and by the class of model.

The rule rests on the table in ``docs/methods.md`` ("Which method answers by default").
"""

from typing import NamedTuple

from planweave.memory import Context


class Choice(NamedTuple):
    """A method, and why it was chosen, as a clause."""

    method: str
    reason: str


def choose(context: Context, *, with_plan: bool = False) -> Choice:
    """The cheapest method that is good enough for the model and the sources."""
    if with_plan or context.approve or context.experience or context.evaluations:
        return Choice("planrag", "it follows a plan")
    if not context.assists("selector"):
        return Choice("planrag", "a capable model plans before it retrieves")
    if context.has_documents:
        return Choice("agent_v1", "a small model answers best from one search")
    return Choice("single_rag", "a small model answers best from one query")
