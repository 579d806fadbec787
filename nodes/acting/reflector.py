"""Reflector: writes the lesson of a failed trial, then starts the next one (Reflexion)."""

from collections.abc import Sequence

from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from pydantic import BaseModel, Field

from planweave.memory import Context, EpisodeState, Reflection, WorkingMemory
from planweave.nodes.support.lengths import REASONING
from planweave.nodes.support.role import ask_role, spent
from planweave.prompts import load


class Lesson(BaseModel):
    """The reflector's reply."""

    reflection: str = Field(max_length=REASONING)


async def reflector(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Write a lesson and start the task again; an unreadable reply gives no lesson."""
    episode = state["episode"]
    if episode is None:
        raise RuntimeError("The reflector runs only after intake began a task.")
    task = load("reflexion/reflector").fill(
        score=f"{episode['score']:.2f}", reflections=_lessons_text(state) or "(none yet)"
    )
    reply = await ask_role("reflector", Lesson, task, state, runtime)
    text = reply.value.reflection.strip() if reply.value else ""
    lesson = Reflection(trial=episode["trial"], score=episode["score"], text=text)
    again: EpisodeState = {**episode, "trial": episode["trial"] + 1, "score": 0.0, "done": False}
    return {
        "reflections": [lesson],
        "episode": again,
        "turns": Overwrite([]),  # type: ignore[typeddict-item]
        "iteration": 0,
        "step": 1,
        "action": None,
        **spent(reply),
    }


def guide_by_lessons(state: WorkingMemory, _possible: Sequence[str], _context: Context) -> str:
    """Guidance from earlier trials of this task; empty in the first one."""
    text = _lessons_text(state)
    return load("reflexion/guidance").fill(reflections=text) if text else ""


def _lessons_text(state: WorkingMemory) -> str:
    return "\n".join(f"- {one['text']}" for one in state["reflections"] if one["text"])
