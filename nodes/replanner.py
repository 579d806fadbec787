"""Re-planner: judges the plan by the last result and replaces it (PlanRAG, section 4)."""

from typing import Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, Replan, WorkingMemory
from planweave.nodes.lengths import REASON
from planweave.nodes.limits import reason_to_answer
from planweave.nodes.planner import MAX_STEPS, Step
from planweave.nodes.role import Node, ask_role, failures, usage
from planweave.nodes.turns import take_turn
from planweave.prompts import load


class Judgement(BaseModel):
    """The re-planner's reply: Y with a whole new plan, or N."""

    reason: str = Field(max_length=REASON)
    replan: Literal["Y", "N"]
    steps: list[Step] = Field(max_length=MAX_STEPS)


def replanner(prompt: str) -> Node:
    """Make the re-planner that uses ``prompts/<prompt>.md``."""

    async def replanner(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        asked = _asked_by_selector(state)
        state = {**state, "iteration": asked.get("iteration", state["iteration"])}
        if reason_to_answer(state, runtime.context):
            return asked
        task = load(prompt).fill(occasion=asked.get("replanning", state["replanning"]))
        reply = await ask_role("replanner", Judgement, task, state, runtime)
        update = asked | {
            "replanning": "",
            "usage": usage(reply),
            "failures": failures(reply),
        }
        judgement = reply.value
        steps = [step.strip() for step in judgement.steps if step.strip()] if judgement else []
        if judgement is None or judgement.replan == "N" or not steps:
            return update
        change = Replan(
            iteration=state["iteration"],
            reason=judgement.reason,
            before=state["plan"],
            after=steps,
        )
        return update | {"plan": steps, "step": 1, "replans": [change]}

    return replanner


def _asked_by_selector(state: WorkingMemory) -> WorkingMemory:
    """The turn in which the selector asked for another plan itself; nothing otherwise."""
    action = state["action"]
    if not action or action["tool"] != "replan":
        return {}
    turn = take_turn(state, lambda _: None)
    return turn | {"replanning": action["input"], "step": state["step"]}
