"""Taskmaster: sets one small objective for this iteration (V3)."""

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, WorkingMemory
from planweave.nodes.role import Node, ask_role, failures, usage
from planweave.prompts import load


class Task(BaseModel):
    """The taskmaster's reply."""

    task: str = Field(max_length=300)


def taskmaster(prompt: str) -> Node:
    """Make the taskmaster that uses ``prompts/<prompt>.md``.

    An unreadable reply leaves the plan's next step, or else the question, as the task. Where the
    answering machine sets the tasks, its task is taken, or the plan's next step, without a call.
    """

    async def taskmaster(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        if runtime.context.combines("answering_machine"):
            return {"task": state["task"] or _next_step(state)}
        task = load(prompt).fill(reason=state["reason"])
        reply = await ask_role("taskmaster", Task, task, state, runtime)
        wanted = reply.value.task.strip() if reply.value else ""
        return {
            "task": wanted or _next_step(state),
            "usage": usage(reply),
            "failures": failures(reply),
        }

    return taskmaster


def _next_step(state: WorkingMemory) -> str:
    left = state["plan"][state["step"] - 1 :]
    return left[0] if left else state["question"]
