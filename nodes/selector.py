"""Selector: turns the current step into one thought and one action."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, create_model

from planweave.memory import Action, Context, Tool, WorkingMemory
from planweave.nodes.assist.asking import extra_temperature, only_query_tool
from planweave.nodes.lengths import QUERY, THOUGHT
from planweave.nodes.limits import reason_to_answer, repeats
from planweave.nodes.role import Node, ask_role, failures, usage
from planweave.nodes.turns import unreadable_turn
from planweave.prompts import load

_NUMBER = re.compile(r"\d")
_SOURCES = ("sql", "cypher", "documents")


def selector(prompt: str, tools: Sequence[Tool]) -> Node:
    """Make the selector that uses ``prompts/<prompt>.md`` and chooses among ``tools``.

    Query tools without a connection are not offered, nor is ``replan`` where the re-planner sees
    every observation anyway. Once a limit is reached it chooses ``finish`` without a model call.
    """
    template = load(prompt)

    async def selector(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        if reason := reason_to_answer(state, context):
            return {"action": action_of(state, thought=reason, tool="finish", input="")}
        bound = offered(tools, state, context)
        if action := only_query_tool(bound, state, context):
            return {"action": action}
        values = {
            "tools": tools_text(bound, state),
            "step": _step_text(state),
            "task": state["task"],
            "problem": problem_text(state),
        }
        task = template.fill(**{name: values[name] for name in template.placeholders})
        warmer = extra_temperature(repeats(state["turns"]), "selector", context)
        reply = await ask_role("selector", choice_of(bound), task, state, runtime, warmer=warmer)
        update: WorkingMemory = {"action": None, "usage": usage(reply), "failures": failures(reply)}
        if reply.value is None:
            return update | unreadable_turn(state, reply.failure)
        return update | {"action": action_of(state, **reply.value.model_dump())}

    return selector


@cache
def choice_of(tools: tuple[Tool, ...]) -> type[BaseModel]:
    """The reply's schema for these tools: the action is a closed choice, not free text."""
    fields: dict[str, Any] = {
        "thought": (str, Field(max_length=THOUGHT)),
        "tool": (Literal[tools], ...),
        "input": (str, Field(max_length=QUERY)),
    }
    return create_model("Choice", **fields)


def action_of(state: WorkingMemory, *, thought: str, tool: Tool, input: str) -> Action:  # noqa: A002
    """The action that was chosen, at the plan's present step."""
    return Action(
        step=min(state["step"], max(1, len(state["plan"]))),
        thought=thought.strip(),
        tool=tool,
        input=input.strip(),
    )


def _step_text(state: WorkingMemory) -> str:
    """Which step of the plan comes next; without a plan, as when all its steps are done."""
    number, plan = state["step"], state["plan"]
    if number > len(plan):
        return load("planrag/all_steps_done").fill()
    return load("planrag/next_step").fill(number=str(number), step=plan[number - 1])


def offered(tools: Sequence[Tool], state: WorkingMemory, context: Context) -> tuple[Tool, ...]:
    """Those of ``tools`` that can be used now: connected, and with something to work on."""
    useful: dict[str, bool] = {
        **{source: source in state["languages"] for source in _SOURCES},
        "calculator": bool(state["facts"]) or _NUMBER.search(state["question"]) is not None,
        "replan": context.replan == "when_needed",
    }
    return tuple(tool for tool in tools if useful.get(tool, True))


def problem_text(state: WorkingMemory) -> str:
    """The last action's problem once more, at the end of the prompt, where it is not overlooked."""
    problem = state["turns"][-1]["problem"] if state["turns"] else ""
    return (
        load("common/problem").fill(problem=problem)
        if problem
        else load("common/no_problem").fill()
    )


def tools_text(tools: Sequence[Tool], state: WorkingMemory) -> str:
    """What each tool does and what its input is."""
    templates = [(load(f"tools/{tool}"), state["languages"].get(tool, "")) for tool in tools]
    return "\n".join(
        template.fill(**dict.fromkeys(template.placeholders, language))
        for template, language in templates
    )
