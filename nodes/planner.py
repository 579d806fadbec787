"""Planner: writes the plan of analysis before anything is read (PlanRAG, section 4, planning)."""

from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, Replan, WorkingMemory
from planweave.nodes.role import Node, ask_role, failures, usage
from planweave.prompts import load

MAX_STEPS = 6
Step = Annotated[str, Field(max_length=200)]


class Plan(BaseModel):
    """The planner's reply."""

    steps: list[Step] = Field(min_length=1, max_length=MAX_STEPS)


def planner(
    prompt: str, *, with_documents: str = "", following: str = "", when_read: str = ""
) -> Node:
    """Make the planner that uses ``prompts/<prompt>.md``.

    A change of a plan that is being carried out is noted. An unreadable reply leaves that plan as
    it is; before the start there is then no plan, since one that was rejected must not be used.

    Args:
        prompt: Its prompt.
        with_documents: Another prompt for a run that has documents.
        following: Another prompt for a question that follows up on earlier ones.
        when_read: Another prompt for a run that has read its documents whole.
    """

    async def planner(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        first = (runtime.context.has_documents and with_documents) or prompt
        template = load(
            (state.get("whole") and when_read) or (state["history"] and following) or first
        )
        occasion = state["objection"] or state["replanning"]
        reply = await ask_role("planner", Plan, template.fill(occasion=occasion), state, runtime)
        update: WorkingMemory = {"usage": usage(reply), "failures": failures(reply)}
        steps = [step.strip() for step in reply.value.steps if step.strip()] if reply.value else []
        if state["turns"] and (not steps or steps == state["plan"]):
            return update
        return update | {"plan": steps, "step": 1, "replans": _change(state, occasion, steps)}

    return planner


def _change(state: WorkingMemory, reason: str, steps: list[str]) -> list[Replan]:
    """The change to a plan that was already being carried out; a first plan changes nothing."""
    if not (state["turns"] and state["plan"]):
        return []
    change = Replan(iteration=state["iteration"], reason=reason, before=state["plan"], after=steps)
    return [change]
