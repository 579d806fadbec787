"""Grounder: corrects a deduced answer by an observation of the environment (GenGround)."""

import asyncio

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.learning.agents_file import NONE
from planweave.memory import Context, Grounded, WorkingMemory
from planweave.nodes.acting.pathfinder import open_guide_for
from planweave.nodes.support.lengths import STEP
from planweave.nodes.support.role import ask_role, spent
from planweave.prompts import load
from planweave.texts import shorten

_OBSERVATION_CHARACTERS = 300
"""Length of a remembered observation."""


class GroundedAnswer(BaseModel):
    """The grounder's reply."""

    answer: str = Field(max_length=STEP)


async def grounder(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Ground the last sub-question's answer; an unreadable reply leaves it unchanged."""
    guess = state["reason"]
    shown = state["turns"][-1]["facts"]
    observation = state["facts"][shown[-1] - 1]["text"] if shown else "(nothing)"
    known = await asyncio.to_thread(_remember_actions, f"{state['task']} {guess}", runtime.context)
    task = load("genground/grounder").fill(
        question=state["task"], guess=guess, observation="\n".join([observation, *known])
    )
    reply = await ask_role("grounder", GroundedAnswer, task, state, runtime, briefed=False)
    answer = reply.value.answer.strip() if reply.value else guess
    grounded = Grounded(question=state["task"], guess=guess, answer=answer)
    return {"grounded": [grounded], **spent(reply)}


def _remember_actions(text: str, context: Context) -> list[str]:
    """The nearest actions of earlier successes, with what each showed."""
    if not context.triplets:
        return []
    guide = open_guide_for(context.model_copy(update={"agents": NONE}))
    return [
        load("genground/remembered").fill(
            action=action, shown=shorten(shown, _OBSERVATION_CHARACTERS)
        )
        for action, shown in guide.triplets(text, context.triplets)
    ]
