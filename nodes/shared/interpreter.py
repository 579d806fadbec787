"""Interpreter: writes a follow-up question in full, from the conversation before it."""

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from pydantic import BaseModel, Field

from planweave.memory import Context, WorkingMemory
from planweave.nodes.assist.replies import reject_repetition
from planweave.nodes.support.briefing import conversation_text
from planweave.nodes.support.role import ask_with, spent
from planweave.prompts import load


class Interpretation(BaseModel):
    """The interpreter's reply."""

    follows_up: bool
    question: str = Field(min_length=1, max_length=1000)


async def interpreter(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Write the question in full; a question on another topic drops the earlier facts.

    An unreadable reply leaves the question and the earlier facts unchanged.
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
        cleared: WorkingMemory = {"history": [], "facts": Overwrite([])}  # type: ignore[typeddict-item]
        return update | cleared
    reply_text = reply.value.question.strip() or state["question"]
    question = reject_repetition(reply_text, state, runtime.context)
    return update | {"question": question}
