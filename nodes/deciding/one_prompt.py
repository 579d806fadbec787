"""One prompt that plans, thinks, acts and re-plans, as PlanRAG is published (figure 11)."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, create_model

from planweave.memory import Context, Planning, Replan, Tool, WorkingMemory
from planweave.nodes.deciding.planner import new_plan
from planweave.nodes.deciding.selector import action_of, offered, problem_text
from planweave.nodes.support.briefing import tools_text
from planweave.nodes.support.lengths import PLAN_STEPS, QUERY, THOUGHT
from planweave.nodes.support.limits import reason_to_answer
from planweave.nodes.support.replies import Step
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import unreadable_turn
from planweave.prompts import load

_AGAIN = ("replan",)
_PLAN = ("steps", "step")
_REWRITE = (*_AGAIN, "steps")
_ACT = ("tool", "input")
_ORDERS: dict[Planning, tuple[str, ...]] = {
    "one_prompt": (*_AGAIN, *_PLAN, "thought", *_ACT),
    "without_thought": (*_AGAIN, *_PLAN, *_ACT),
    "thought_first": (*_AGAIN, "thought", *_PLAN, *_ACT),
}
"""What a reply says, in this order (table 10)."""


def one_prompt(prompt: str, tools: Sequence[Tool], *, otherwise: Node) -> Node:
    """Make the role that says everything in one reply, where ``context.planning`` asks for it."""

    async def selector(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        if not context.in_one_prompt or reason_to_answer(state, context):
            update: WorkingMemory = await otherwise(state, runtime)
            return update
        bound, order = offered(tools, state, context), _ORDERS[context.planning]
        left_out = _REWRITE if state["given_plan"] else () if state["plan"] else _AGAIN
        included = tuple(name for name in order if name not in left_out)
        task = load(prompt).fill(
            order=", then ".join(
                load(f"{prompt}_{name}").fill() for name in included if name != "input"
            ),
            tools=tools_text(bound, state, context),
            problem=problem_text(state),
        )
        reply = await ask_role("selector", _form(bound, included), task, state, runtime)
        update = {"action": None, "actions": []}
        update |= spent(reply)
        if reply.value is None:
            return update | unreadable_turn(state, reply.failure)
        values = reply.value.model_dump()
        update |= _planned(state, values)
        action = action_of(
            state, thought=values.get("thought", ""), tool=values["tool"], input=values["input"]
        )
        steps = len(update.get("plan", state["plan"]))
        update["action"] = {**action, "step": max(1, min(values["step"], steps))}
        return update

    return selector


def _planned(state: WorkingMemory, values: dict[str, Any]) -> WorkingMemory:
    """The first plan, or the new one if the reply says Y; a given plan stays."""
    steps = [step.strip() for step in values.get("steps", []) if step.strip()]
    before = state["plan"]
    if not steps or steps == before or (before and values["replan"] == "N"):
        return {}
    thought = values.get("thought", "")
    change = Replan(iteration=state["iteration"], reason=thought, before=before, after=steps)
    return new_plan(steps, [[] for _ in steps]) | {"replans": [change] if before else []}


@cache
def _form(tools: tuple[Tool, ...], included: tuple[str, ...]) -> type[BaseModel]:
    """The reply's schema: the parts in their order."""
    parts: dict[str, Any] = {
        "replan": (Literal["Y", "N"], ...),
        "steps": (list[Step], Field(min_length="replan" not in included, max_length=PLAN_STEPS)),
        "step": (int, ...),
        "thought": (str, Field(max_length=THOUGHT)),
        "tool": (Literal[tools], ...),
        "input": (str, Field(max_length=QUERY)),
    }
    return create_model("InOne", **{name: parts[name] for name in included})
