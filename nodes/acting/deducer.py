"""Deducer: asks the next sub-question and answers it from the model's knowledge (GenGround)."""

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, WorkingMemory
from planweave.nodes.acting.actor import (
    build_action,
    limit_to_actions,
    list_possible,
    possible_text,
    problem_text,
)
from planweave.nodes.support.lengths import ACTION, STEP
from planweave.nodes.support.limits import reason_to_answer
from planweave.nodes.support.role import ask_role, spent
from planweave.nodes.support.turns import unreadable_turn
from planweave.prompts import load


class Deduction(BaseModel):
    """The deducer's reply."""

    question: str = Field(max_length=STEP)
    answer: str = Field(max_length=STEP)
    action: str = Field(max_length=ACTION)


async def deducer(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Deduce an answer and choose the action that checks it; at a limit choose none.

    ``task`` and ``reason`` hold sub-question and answer until the grounder has checked them.
    """
    if reason_to_answer(state, runtime.context):
        return {"action": None}
    possible = await list_possible(state, runtime.context, "deducer")
    task = load("genground/deducer").fill(
        grounded=_grounded_text(state) or "(nothing yet)",
        possible=possible_text(possible),
        problem=problem_text(state, runtime.context, "deducer"),
    )
    schema = limit_to_actions(Deduction, possible)
    reply = await ask_role("deducer", schema, task, state, runtime)
    update: WorkingMemory = {"action": None, **spent(reply)}
    if reply.value is None:
        return update | unreadable_turn(state, reply.failure)
    step = reply.value
    return update | {
        "task": step.question.strip(),
        "reason": step.answer.strip(),
        "action": build_action(state, f"{step.question} {step.answer}", step.action),
    }


def _grounded_text(state: WorkingMemory) -> str:
    return "\n".join(f"- {one['question']} {one['answer']}" for one in state["grounded"])
