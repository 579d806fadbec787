"""Thinking: an action without effect; the conclusion is kept among the turns."""

from planweave.memory import WorkingMemory
from planweave.nodes.support.turns import take_turn


def thinking(state: WorkingMemory) -> WorkingMemory:
    """Note the conclusion. It is no fact, since no source is behind it."""
    return take_turn(state, lambda action: None)  # noqa: ARG005
