"""Recall: reads long-term memory for this user or project."""

from langgraph.runtime import Runtime

from planweave.memory import Context, WorkingMemory
from planweave.memory.long_term import confirmed_abbreviations


async def recall(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Add the abbreviations that the owner has confirmed, if there is a store."""
    if runtime.store is None or state["greeting"]:
        return {}
    confirmed = await confirmed_abbreviations(runtime.store, runtime.context.owner)
    return {"abbreviations": state["abbreviations"] | confirmed}
