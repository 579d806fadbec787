"""One prompt that plans, thinks, acts and re-plans, as in the PlanRAG paper (figure 11)."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, create_model

from planweave.memory import Context, Planning, Replan, Tool, WorkingMemory
from planweave.nodes.deciding.planner import start_plan
from planweave.nodes.deciding.selector import build_action, problem_text, select_usable
from planweave.nodes.support.briefing import tools_text
from planweave.nodes.support.lengths import PLAN_STEPS, QUERY, THOUGHT
from planweave.nodes.support.limits import reason_to_answer
from planweave.nodes.support.replies import Step
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import unreadable_turn
from planweave.prompts import load

_PROMPT = "planrag/one_prompt"
_REPLAN = ("replan",)
_PLAN = ("steps", "step")
_REWRITE = (*_REPLAN, "steps")
_ACT = ("tool", "input")
_ORDERS: dict[Planning, tuple[str, ...]] = {
    "one_prompt": (*_REPLAN, *_PLAN, "thought", *_ACT),
    "without_thought": (*_REPLAN, *_PLAN, *_ACT),
    "thought_first": (*_REPLAN, "thought", *_PLAN, *_ACT),
}
"""The parts of a reply, in order (table 10)."""


def one_prompt(tools: Sequence[Tool], *, fallback: Node) -> Node:
    """Make the role that does all in one reply if ``context.planning`` asks for it."""

    async def selector(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        if not context.in_one_prompt or reason_to_answer(state, context):
            update: WorkingMemory = await fallback(state, runtime)
            return update
        usable, order = select_usable(tools, state, context), _ORDERS[context.planning]
        left_out = _REWRITE if state["given_plan"] else () if state["plan"] else _REPLAN
        included = tuple(name for name in order if name not in left_out)
        task = load(_PROMPT).fill(
            order=", then ".join(
                load(f"{_PROMPT}_{name}").fill() for name in included if name != "input"
            ),
            tools=tools_text(usable, state, context),
            problem=problem_text(state),
        )
        reply = await ask_role("selector", _reply_form(usable, included), task, state, runtime)
        update = {"action": None, "actions": []}
        update |= spent(reply)
        if reply.value is None:
            return update | unreadable_turn(state, reply.failure)
        values = reply.value.model_dump()
        update |= _plan_update(state, values)
        action = build_action(
            state, thought=values.get("thought", ""), tool=values["tool"], input=values["input"]
        )
        steps = len(update.get("plan", state["plan"]))
        update["action"] = {**action, "step": max(1, min(values["step"], steps))}
        return update

    return selector


def _plan_update(state: WorkingMemory, values: dict[str, Any]) -> WorkingMemory:
    """The update with the first plan, or with a new one if the reply is Y."""
    steps = [step.strip() for step in values.get("steps", []) if step.strip()]
    before = state["plan"]
    if not steps or steps == before or (before and values["replan"] == "N"):
        return {}
    thought = values.get("thought", "")
    change = Replan(iteration=state["iteration"], reason=thought, before=before, after=steps)
    return start_plan(steps, [[] for _ in steps]) | {"replans": [change] if before else []}


@cache
def _reply_form(tools: tuple[Tool, ...], included: tuple[str, ...]) -> type[BaseModel]:
    """The schema of the reply, with these parts in order."""
    parts: dict[str, Any] = {
        "replan": (Literal["Y", "N"], ...),
        "steps": (
            list[Step],
            Field(min_length=int("replan" not in included), max_length=PLAN_STEPS),
        ),
        "step": (int, ...),
        "thought": (str, Field(max_length=THOUGHT)),
        "tool": (Literal[tools], ...),
        "input": (str, Field(max_length=QUERY)),
    }
    return create_model("InOne", **{name: parts[name] for name in included})
