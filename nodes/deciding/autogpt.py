"""AutoGPT's only role: thoughts with a plan and criticism, then a command."""

from functools import cache
from typing import Annotated, Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, create_model

from planweave.memory import Context, Tool, WorkingMemory
from planweave.nodes.assist.asking import extra_temperature
from planweave.nodes.deciding.selector import build_action, problem_text, select_usable
from planweave.nodes.support.briefing import tools_text
from planweave.nodes.support.lengths import PLAN_STEPS, QUERY, STEP, THOUGHT
from planweave.nodes.support.limits import count_repetitions, reason_to_answer
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import unreadable_turn
from planweave.prompts import load


class Thoughts(BaseModel):
    """What AutoGPT says before it commands."""

    text: str = Field(max_length=THOUGHT)
    reasoning: str = Field(max_length=THOUGHT)
    plan: list[Annotated[str, Field(max_length=STEP)]] = Field(max_length=PLAN_STEPS)
    criticism: str = Field(max_length=THOUGHT)
    speak: str = Field(max_length=THOUGHT)


class Command(BaseModel):
    """AutoGPT's command."""

    name: Tool
    input: str = Field(max_length=QUERY)


class ThoughtsAndCommand(BaseModel):
    """AutoGPT's reply."""

    thoughts: Thoughts
    command: Command


def commander(tools: tuple[Tool, ...]) -> Node:
    """Make the role that commands ``tools``.

    Every reply replaces the plan in working memory.
    """

    async def commander(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        if reason := reason_to_answer(state, runtime.context):
            return {"action": build_action(state, thought=reason, tool="finish", input="")}
        usable = select_usable(tools, state, runtime.context)
        task = load("autogpt/autogpt").fill(
            tools=tools_text(usable, state, runtime.context), problem=problem_text(state)
        )
        extra = extra_temperature(count_repetitions(state["turns"]), "autogpt", runtime.context)
        reply = await ask_role(
            "autogpt", _reply_form(usable), task, state, runtime, extra_temperature=extra
        )
        update: WorkingMemory = {"action": None, **spent(reply)}
        if reply.value is None:
            return update | unreadable_turn(state, reply.failure)
        thoughts, command = reply.value.thoughts, reply.value.command
        parts = (thoughts.text, thoughts.reasoning, thoughts.criticism)
        thought = " ".join(part.strip() for part in parts)
        action = build_action(state, thought=thought, tool=command.name, input=command.input)
        return update | {"action": action, "plan": thoughts.plan}

    return commander


@cache
def _reply_form(tools: tuple[Tool, ...]) -> type[ThoughtsAndCommand]:
    """The schema of the reply; the command is one of these tools."""
    names: Any = Literal[tools]
    command = create_model("Command", __base__=Command, name=(names, ...))
    return create_model("AutoGPT", __base__=ThoughtsAndCommand, command=(command, ...))
