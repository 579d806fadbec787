"""Drafter: thinks step by step before anything is looked up (zero-shot chain of thought)."""

from collections.abc import Sequence
from typing import Annotated

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Context, WorkingMemory
from planweave.nodes.support.lengths import DRAFT_STEP, THOUGHT
from planweave.nodes.support.role import ask_writer, spent
from planweave.prompts import load

MAX_STEPS = 16
Text = Annotated[str, Field(max_length=DRAFT_STEP)]
"""A step: a sentence, a piece of a program, or a paragraph."""


class Draft(BaseModel):
    """Steps that are taken to build on all before them."""

    thought: str = Field(max_length=THOUGHT)
    steps: list[Text] = Field(min_length=1, max_length=MAX_STEPS)


async def drafter(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Write the draft; a given plan serves as the draft.

    After an unreadable reply the run continues without a draft.
    """
    if state["plan"]:
        return _draft_update(state["plan"], "")
    task = load(f"rat/{runtime.context.family}_draft").fill(reply=load("rat/draft").fill())
    reply = await ask_writer("drafter", Draft, task, state, runtime)
    steps, thought = (reply.value.steps, reply.value.thought) if reply.value else ([], "")
    drafted = _draft_update(steps, thought.strip())
    return drafted | spent(reply)


def _draft_update(steps: Sequence[str], reasoning: str) -> WorkingMemory:
    draft = [text for step in steps if (text := step.strip())]
    return {"draft": draft, "revised": draft, "reasoning": reasoning}
