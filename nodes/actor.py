"""Actor: one thought and one action in an environment."""

import asyncio
from collections.abc import Callable

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from memory import Action, Context, Turn, WorkingMemory
from nodes.environment import possible_actions
from nodes.limits import reason_to_answer
from nodes.role import Node, ask_role, failures, usage
from nodes.selector import WARMER
from nodes.turns import same, unreadable_turn
from prompts import load


class Act(BaseModel):
    """The actor's reply."""

    thought: str = Field(max_length=400)
    action: str = Field(max_length=400)


Guidance = Callable[[WorkingMemory], str]
"""What a method tells the actor besides the task; empty if there is nothing to tell."""


def actor(guidance: Guidance) -> Node:
    """Make the actor that is told ``guidance``; at a limit it chooses no action any more."""

    async def actor(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        if reason_to_answer(state, runtime.context):
            return {"action": None}
        told = guidance(state)
        possible = await asyncio.to_thread(possible_text, state, runtime.context)
        task = load("environments/actor").fill(
            guidance=f"{told}\n" if told else "",
            possible=possible,
            problem=problem_text(state),
        )
        warmer = WARMER * _stuck(state["turns"])
        reply = await ask_role("actor", Act, task, state, runtime, warmer=warmer)
        update: WorkingMemory = {"action": None, "usage": usage(reply), "failures": failures(reply)}
        if reply.value is None:
            return update | unreadable_turn(state, reply.failure)
        return update | {"action": action_in(state, reply.value.thought, reply.value.action)}

    return actor


def unguided(_state: WorkingMemory) -> str:
    """Guidance of a method that has none (ReAct)."""
    return ""


def action_in(state: WorkingMemory, thought: str, action: str) -> Action:
    """An action in the environment."""
    text = " ".join(action.split())
    return Action(step=state["step"], thought=thought.strip(), tool="environment", input=text)


def possible_text(state: WorkingMemory, context: Context) -> str:
    """The actions that are possible now, where they can be listed; it may wait for a process."""
    actions = possible_actions(state, context)
    if not actions:
        return ""
    return load("environments/possible").fill(actions="; ".join(actions)) + "\n"


def problem_text(state: WorkingMemory) -> str:
    """The last action's problem once more, at the end of the prompt."""
    problem = state["turns"][-1]["problem"] if state["turns"] else ""
    return load("environments/problem").fill(problem=problem) if problem else ""


def _stuck(turns: list[Turn]) -> int:
    """How many of the last turns only did once more what the turn before did."""
    count = 0
    while count + 1 < len(turns) and same(turns[-1 - count]["input"]) == same(
        turns[-2 - count]["input"]
    ):
        count += 1
    return count
