"""Greeter: answers a greeting with a greeting."""

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from planweave.memory import Context, WorkingMemory

_DATABASE = (
    "Hello! Ask me a question about the connected database, for example which option serves a "
    "goal best, and I will plan the analysis, query the data, and answer with the facts it "
    "rests on."
)
_DOCUMENTS = (
    "Hello! Ask me a question about the connected documents, for example what they say on a "
    "cost, a date or a method, and I will search them and answer with the passages that say "
    "so."
)


def greeter(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:  # noqa: ARG001 (LangGraph passes the state)
    """Say hello and describe what can be asked."""
    text = _DOCUMENTS if runtime.context.has_documents else _DATABASE
    return {"messages": [AIMessage(text)]}
