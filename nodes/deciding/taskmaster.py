"""Taskmaster: sets one small objective for this iteration (V3)."""

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, WorkingMemory
from planweave.nodes.support.briefing import fill_prompt
from planweave.nodes.support.lengths import STEP
from planweave.nodes.support.role import Node, ask_role, spent


class Task(BaseModel):
    """The taskmaster's reply."""

    task: str = Field(max_length=STEP)


def taskmaster(prompt: str) -> Node:
    """Make the taskmaster that uses this prompt.

    After an unreadable reply the task is the next step of the plan, or else the question. If the
    answering machine sets the tasks, this node makes no call and takes its task or the next step.
    """

    async def taskmaster(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        if runtime.context.combines("answering_machine"):
            return {"task": state["task"] or _next_step_text(state)}
        task = fill_prompt(prompt, state, reason=state["reason"])
        reply = await ask_role("taskmaster", Task, task, state, runtime)
        wanted = reply.value.task.strip() if reply.value else ""
        return {"task": wanted or _next_step_text(state), **spent(reply)}

    return taskmaster


def _next_step_text(state: WorkingMemory) -> str:
    left = state["plan"][state["step"] - 1 :]
    return left[0] if left else state["question"]
