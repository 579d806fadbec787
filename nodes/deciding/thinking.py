"""Thinking: an action without effect; the conclusion stays in the turns."""

from planweave.memory import WorkingMemory
from planweave.nodes.support.turns import take_turn


def thinking(state: WorkingMemory) -> WorkingMemory:
    """Record the conclusion; it is not a fact, since it has no source."""
    return take_turn(state, lambda _: "")
