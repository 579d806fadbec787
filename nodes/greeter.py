"""Greeter: a greeting gets a greeting back, not a plan."""

from langchain_core.messages import AIMessage

from memory import WorkingMemory
from prompts import load


def greeter(state: WorkingMemory) -> WorkingMemory:  # noqa: ARG001 (LangGraph passes the state)
    """Say hello and what can be asked."""
    return {"messages": [AIMessage(load("common/greeting").fill())]}
