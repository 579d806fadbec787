"""What the roles of PlanRAG read where one reply may say several things.

Planner, selector and re-planner share all that stays the same in a run, so that a prompt cache
reads it once. Where :meth:`Context.combines` says no, they say one thing at a time instead, as in
the paper.
"""

from collections.abc import Sequence
from typing import TypeVar

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from planweave.memory import Context, Tool, WorkingMemory
from planweave.models import StructuredReply
from planweave.nodes.support.briefing import briefing, ground, tools_text, with_bound
from planweave.nodes.support.role import ask_with
from planweave.prompts import load

Output = TypeVar("Output", bound=BaseModel)

SOURCES = ("sql", "cypher", "documents")


def connected(tools: Sequence[Tool], state: WorkingMemory) -> tuple[Tool, ...]:
    """Those of ``tools`` that act, and read no source or one that is connected.

    A plan that was given is not changed.
    """
    silent = {"thinking", "finish", *(["replan"] if state["given_plan"] else [])}
    acting = (tool for tool in with_bound(tools, state) if tool not in silent)
    return tuple(tool for tool in acting if tool not in SOURCES or tool in state["languages"])


def how_text(tools: Sequence[Tool], state: WorkingMemory, context: Context) -> str:
    """How the work is done; the same in every prompt of a run."""
    at_once = "planrag/one_action" if context.parallel is False else "planrag/actions_at_once"
    return load("planrag/how").fill(
        at_once=load(at_once).fill(),
        tools=tools_text(connected(tools, state), state, context),
        answer=answer_text(context),
    )


def answer_text(context: Context) -> str:
    """How an answer that comes with another reply is written."""
    return load("common/words_form" if context.in_words else "common/decision_form").fill()


async def ask_combined(
    role: str,
    output: type[Output],
    task: str,
    state: WorkingMemory,
    runtime: Runtime[Context],
    *,
    tools: Sequence[Tool],
    extra_temperature: float = 0.0,
) -> StructuredReply[Output]:
    """As ``ask_role``; how the work is done comes before the memory."""
    context = runtime.context
    messages = [
        SystemMessage(f"{ground(state, context)}\n\n{how_text(tools, state, context)}"),
        HumanMessage(f"{briefing(state, context)}\n\n{task}"),
    ]
    return await ask_with(role, output, messages, runtime, extra_temperature=extra_temperature)


def open_steps(state: WorkingMemory) -> list[int]:
    """Numbers of the plan's steps that are not done."""
    done = {*state.get("done_steps", ())}  # a thread of an earlier version has none
    return [number for number in range(1, len(state["plan"]) + 1) if number not in done]


def progress_text(state: WorkingMemory) -> str:
    """Which steps are done, which are open, and which results the open ones still need."""
    if not state["plan"]:
        return load("planrag/nothing_planned").fill()
    left = open_steps(state)
    if not left:
        return load("planrag/all_done").fill()
    done = _listed(state["done_steps"]) or "none"
    return load("planrag/steps").fill(
        done=done, open=", ".join(_with_needs(number, state) for number in left)
    )


def _with_needs(number: int, state: WorkingMemory) -> str:
    needs = state["needs"][number - 1] if number <= len(state["needs"]) else []
    missing = [need for need in needs if need not in state["done_steps"]]
    return f"{number} (needs {_listed(missing)})" if missing else str(number)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
