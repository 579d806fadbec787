"""Actor: one thought and one action in an environment."""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, create_model
from pydantic.config import JsonDict

from planweave.memory import Action, Context, WorkingMemory
from planweave.nodes.acting.environment import possible_actions
from planweave.nodes.acting.path_selector import next_step
from planweave.nodes.assist.asking import extra_temperature, reminder, times_stuck, untried_first
from planweave.nodes.support.lengths import ACTION, THOUGHT
from planweave.nodes.support.limits import reason_to_answer
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import unreadable_turn
from planweave.prompts import load
from planweave.tools.environments import OPEN, one_action


class Act(BaseModel):
    """The actor's reply."""

    thought: str = Field(max_length=THOUGHT)
    action: str = Field(max_length=ACTION)


Acting = TypeVar("Acting", bound=BaseModel)

_LETTER = r'[^"\\\[\]\n…]'
_WORDS = rf'[^"\\\[\]\n… .]({_LETTER}|\[{_LETTER}*\]){{0,400}}'
"""What is in the brackets of an action, no dots alone; inner brackets come in pairs."""

Guidance = Callable[[WorkingMemory, Sequence[str], Context], str]
"""What a method tells the actor besides the task and what is possible; empty if nothing."""


def actor(guidance: Guidance) -> Node:
    """Make the actor that is told ``guidance``; at a limit it chooses no action any more."""

    async def actor(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        if reason_to_answer(state, runtime.context):
            return {"action": None}
        possible = await possible_now(state, runtime.context)
        hints = guidance(state, possible, runtime.context)
        task = load("environments/actor").fill(
            guidance=f"{hints}\n" if hints else "",
            possible=possible_text(possible),
            problem=problem_text(state, runtime.context),
        )
        extra = extra_temperature(times_stuck(state), "actor", runtime.context)
        schema = acting_among(Act, possible)
        reply = await ask_role("actor", schema, task, state, runtime, extra_temperature=extra)
        update: WorkingMemory = {"action": None, **spent(reply)}
        if reply.value is None:
            return update | unreadable_turn(state, reply.failure)
        return update | {"action": action_in(state, reply.value.thought, reply.value.action)}

    return actor


def unguided(_state: WorkingMemory, _possible: Sequence[str], _context: Context) -> str:
    """Guidance of a method that has none (ReAct)."""
    return ""


def action_in(state: WorkingMemory, thought: str, action: str) -> Action:
    """An action in the environment; of several the first."""
    text = " ".join(one_action(action).split())
    return Action(step=state["step"], thought=thought.strip(), tool="environment", input=text)


def acting_among(schema: type[Acting], possible: Sequence[str]) -> type[Acting]:
    """A reply whose ``action`` is one of the possible ones, or has one of their forms.

    Only models whose replies are bound to a schema are held to it. Another action is no malformed
    reply: the environment says what is wrong with it.
    """
    if not possible:
        return schema
    forms = [re.escape(one.removesuffix(OPEN)) for one in possible if one.endswith(OPEN)]
    pattern = rf"^(({'|'.join(forms)})\[{_WORDS}\])$"
    held: JsonDict = {"pattern": pattern} if forms else {"enum": [*possible]}
    action = (str, Field(json_schema_extra=held))
    return create_model(
        schema.__name__, __base__=schema, __module__=schema.__module__, action=action
    )


async def possible_now(
    state: WorkingMemory, context: Context, role: str = "actor"
) -> Sequence[str]:
    """What can be done now, as far as it is listed; first the next step of a path.

    Before a step that ends the task comes what the task still asks for.
    """
    possible = await asyncio.to_thread(possible_actions, state, context)
    left = untried_first(possible, state, role, context)
    following = next_step(state, left, context)
    asked, doing = (following.asked, following.doing) if following else ((), ())
    left = [*asked, *(action for action in left if action not in asked)]
    return sorted(left, key=lambda action: (action not in asked, action not in doing))


def possible_text(actions: Sequence[str]) -> str:
    """The actions that are possible now, where they can be listed."""
    if not actions:
        return ""
    return load("environments/possible").fill(actions="; ".join(actions)) + "\n"


def problem_text(state: WorkingMemory, context: Context, role: str = "actor") -> str:
    """The last action's problem once more, or that it showed nothing new, for the prompt's end."""
    if text := reminder(state, role, context):
        return text
    problem = state["turns"][-1]["problem"] if state["turns"] else ""
    return load("environments/problem").fill(problem=problem) if problem else ""
