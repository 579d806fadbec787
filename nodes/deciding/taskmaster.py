"""Taskmaster: sets one small objective for this iteration (V3)."""

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, WorkingMemory
from planweave.nodes.support.briefing import fill_prompt
from planweave.nodes.support.lengths import STEP
from planweave.nodes.support.role import ask_role, spent


class Task(BaseModel):
    """The taskmaster's reply."""

    task: str = Field(max_length=STEP)


async def taskmaster(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Set the next task; after an unreadable reply, the next step of the plan or the question.

    If the answering machine sets the tasks, this node takes its task without a call.
    """
    if runtime.context.combines("answering_machine"):
        return {"task": state["task"] or _next_step_text(state)}
    task = fill_prompt("agent_v3/taskmaster", state, reason=state["reason"])
    reply = await ask_role("taskmaster", Task, task, state, runtime)
    wanted = reply.value.task.strip() if reply.value else ""
    return {"task": wanted or _next_step_text(state), **spent(reply)}


def _next_step_text(state: WorkingMemory) -> str:
    left = state["plan"][state["step"] - 1 :]
    return left[0] if left else state["question"]
