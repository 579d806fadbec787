"""Greeter: answers a greeting with a greeting."""

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from planweave.memory import Context, WorkingMemory
from planweave.prompts import load


def greeter(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:  # noqa: ARG001 (LangGraph passes the state)
    """Say hello and describe what can be asked."""
    prompt = "documents/greeting" if runtime.context.has_documents else "common/greeting"
    return {"messages": [AIMessage(load(prompt).fill())]}
