"""Evaluator: accepts a plan or sends it back to the planner with notes (V3)."""

from typing import Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, WorkingMemory
from planweave.nodes.support.lengths import REASON
from planweave.nodes.support.role import ask_role, spent
from planweave.prompts import load


class Evaluation(BaseModel):
    """The evaluator's reply; the notes come before the verdict."""

    notes: str = Field(max_length=REASON)
    verdict: Literal["Accept", "Reject"]


async def evaluator(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Judge the plan; an unreadable reply accepts it."""
    reply = await ask_role(
        "evaluator", Evaluation, load("agent_v3/evaluator").fill(), state, runtime
    )
    update: WorkingMemory = {"objection": "", **spent(reply)}
    if reply.value is None or reply.value.verdict == "Accept":
        return update
    objection = reply.value.notes.strip() or "Make a different plan."
    return update | {"objection": objection, "rejections": state["rejections"] + 1}
