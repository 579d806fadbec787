"""Thinker: writes the next sentence of a chain of thought, which is the next search (IRCoT)."""

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from planweave.memory import Action, Answer, Context, WorkingMemory
from planweave.nodes.support.briefing import fact_text
from planweave.nodes.support.lengths import SHORT, THOUGHT
from planweave.nodes.support.limits import reason_to_answer
from planweave.nodes.support.role import ask_role, spent
from planweave.prompts import load


class Thought(BaseModel):
    """The thinker's reply."""

    thought: str = Field(max_length=THOUGHT)
    answer: str | None = Field(max_length=SHORT)


async def thinker(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Write the next thought, which is the next search; the first search is the question.

    An unreadable reply ends the chain, and the answering machine answers from the evidence.
    """
    if reason_to_answer(state, runtime.context):
        return {"action": None}
    if not state["turns"]:
        return {"action": _build_search(state["question"], thought="")}
    task = load("ircot/thinker").fill(
        evidence="\n\n".join(fact_text(fact) for fact in state["facts"]) or "(none yet)",
        thoughts=" ".join(turn["thought"] for turn in state["turns"]).strip() or "(none yet)",
    )
    reply = await ask_role("thinker", Thought, task, state, runtime, briefed=False)
    update = spent(reply)
    if reply.value is None:
        return update | {"action": None}
    thought, short = reply.value.thought.strip(), (reply.value.answer or "").strip()
    if short and state["facts"]:
        why = " ".join([*(turn["thought"] for turn in state["turns"]), thought]).strip()
        answer = Answer(decision=short, why=why, facts=[], unknown="")
        return update | {"answer": answer, "action": None}
    return update | {"action": _build_search(thought, thought) if thought else None}


def _build_search(query: str, thought: str) -> Action:
    return Action(step=1, thought=thought, tool="documents", input=query)
