"""Interpreter: says a follow-up question in full, by the conversation before it."""

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from pydantic import BaseModel, Field

from planweave.memory import Context, WorkingMemory
from planweave.nodes.assist.replies import new_question
from planweave.nodes.support.briefing import conversation_text
from planweave.nodes.support.role import ask_with, spent
from planweave.prompts import load


class Interpretation(BaseModel):
    """The interpreter's reply."""

    follows_up: bool
    question: str = Field(min_length=1, max_length=1000)


async def interpreter(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Say the question in full; one on another matter starts afresh, without earlier facts.

    An unreadable reply leaves the question as it was asked, with the earlier facts at hand.
    """
    task = load("common/interpreter").fill(
        conversation=conversation_text(state["history"]), message=state["question"]
    )
    messages = [SystemMessage(load("common/interpreter_ground").fill()), HumanMessage(task)]
    reply = await ask_with("interpreter", Interpretation, messages, runtime)
    update = spent(reply)
    if reply.value is None:
        return update
    if not reply.value.follows_up:
        afresh: WorkingMemory = {"history": [], "facts": Overwrite([])}  # type: ignore[typeddict-item]
        return update | afresh
    said = reply.value.question.strip() or state["question"]
    question = new_question(said, state, runtime.context)
    return update | {"question": question}
