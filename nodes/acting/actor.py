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
from planweave.nodes.acting.path_selector import find_next_step
from planweave.nodes.assist.asking import (
    count_stuck_turns,
    extra_temperature,
    put_untried_first,
    warn_if_stuck,
)
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
_ARGUMENT = rf'[^"\\\[\]\n… .]({_LETTER}|\[{_LETTER}*\]){{0,400}}'
"""The argument in the brackets of an action: not only dots, with inner brackets in pairs."""

Guidance = Callable[[WorkingMemory, Sequence[str], Context], str]
"""Text that a method adds to the actor's task and possible actions; may be empty."""


def actor(guidance: Guidance) -> Node:
    """Make the actor that gets this ``guidance``; at a limit it chooses no action."""

    async def actor(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        if reason_to_answer(state, runtime.context):
            return {"action": None}
        possible = await list_possible(state, runtime.context)
        guidance_text = guidance(state, possible, runtime.context)
        task = load("environments/actor").fill(
            guidance=f"{guidance_text}\n" if guidance_text else "",
            possible=possible_text(possible),
            problem=problem_text(state, runtime.context),
        )
        extra = extra_temperature(count_stuck_turns(state), "actor", runtime.context)
        schema = limit_to_actions(Act, possible)
        reply = await ask_role("actor", schema, task, state, runtime, extra_temperature=extra)
        update: WorkingMemory = {"action": None, **spent(reply)}
        if reply.value is None:
            return update | unreadable_turn(state, reply.failure)
        return update | {"action": build_action(state, reply.value.thought, reply.value.action)}

    return actor


def give_no_guidance(_state: WorkingMemory, _possible: Sequence[str], _context: Context) -> str:
    """Guidance for a method that has none (ReAct)."""
    return ""


def build_action(state: WorkingMemory, thought: str, action: str) -> Action:
    """The first action of a reply, as an action in the environment."""
    text = " ".join(one_action(action).split())
    return Action(step=state["step"], thought=thought.strip(), tool="environment", input=text)


def limit_to_actions(schema: type[Acting], possible: Sequence[str]) -> type[Acting]:
    """Limit the ``action`` of a reply to the possible actions, or to their forms.

    Only a model whose replies are bound to a schema is limited. Any other action still counts as a
    readable reply: the environment reports what is wrong with it.
    """
    if not possible:
        return schema
    forms = [re.escape(one.removesuffix(OPEN)) for one in possible if one.endswith(OPEN)]
    pattern = rf"^(({'|'.join(forms)})\[{_ARGUMENT}\])$"
    constraint: JsonDict = {"pattern": pattern} if forms else {"enum": [*possible]}
    action = (str, Field(json_schema_extra=constraint))
    return create_model(
        schema.__name__, __base__=schema, __module__=schema.__module__, action=action
    )


async def list_possible(
    state: WorkingMemory, context: Context, role: str = "actor"
) -> Sequence[str]:
    """List the actions that are possible now, those of the next step of a path first.

    Before a step that ends the task come the actions that the task still asks for.
    """
    possible = await asyncio.to_thread(possible_actions, state, context)
    untried_first = put_untried_first(possible, state, role, context)
    step = find_next_step(state, untried_first, context)
    if step is None:
        return untried_first
    actions = [*step.requested, *(one for one in untried_first if one not in step.requested)]
    return sorted(actions, key=lambda one: (one not in step.requested, one not in step.actions))


def possible_text(actions: Sequence[str]) -> str:
    """The possible actions as text; empty if the environment lists none."""
    if not actions:
        return ""
    return load("environments/possible").fill(actions="; ".join(actions)) + "\n"


def problem_text(state: WorkingMemory, context: Context, role: str = "actor") -> str:
    """For the end of the prompt: the last action's problem, or that it showed nothing new."""
    if text := warn_if_stuck(state, role, context):
        return text
    problem = state["turns"][-1]["problem"] if state["turns"] else ""
    return load("environments/problem").fill(problem=problem) if problem else ""
