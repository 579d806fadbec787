"""Grounder: corrects a deduced answer by what the environment showed (GenGround)."""

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, Grounded, WorkingMemory
from planweave.nodes.support.lengths import STEP
from planweave.nodes.support.role import ask_role, failures, usage
from planweave.prompts import load


class GroundedAnswer(BaseModel):
    """The grounder's reply."""

    answer: str = Field(max_length=STEP)


async def grounder(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Ground the last sub-question's answer; an unreadable reply leaves it as it was deduced."""
    guess = state["reason"]
    shown = state["turns"][-1]["facts"]
    observation = state["facts"][shown[-1] - 1]["text"] if shown else "(nothing)"
    task = load("genground/grounder").fill(
        question=state["task"], guess=guess, observation=observation
    )
    reply = await ask_role("grounder", GroundedAnswer, task, state, runtime, briefed=False)
    answer = reply.value.answer.strip() if reply.value else guess
    grounded = Grounded(question=state["task"], guess=guess, answer=answer)
    return {"grounded": [grounded], "usage": usage(reply), "failures": failures(reply)}
