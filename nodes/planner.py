"""Planner: writes the plan of analysis before anything is read (PlanRAG, section 4, planning)."""

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from memory import Context, WorkingMemory
from nodes.role import Node, ask_role, failures, usage
from prompts import load

MAX_STEPS = 6
Step = Annotated[str, Field(max_length=200)]


class Plan(BaseModel):
    """The planner's reply."""

    steps: list[Step] = Field(min_length=1, max_length=MAX_STEPS)


def planner(prompt: str) -> Node:
    """Make the planner that uses ``prompts/<prompt>.md``."""
    template = load(prompt)

    async def planner(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        task = template.fill(occasion=state["replanning"])
        reply = await ask_role("planner", Plan, task, state, runtime)
        steps = [step.strip() for step in reply.value.steps if step.strip()] if reply.value else []
        return {"plan": steps, "step": 1, "usage": usage(reply), "failures": failures(reply)}

    return planner
