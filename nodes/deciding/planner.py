"""Planner: writes the plan of analysis before anything is read (PlanRAG, section 4, planning)."""

from collections.abc import Sequence

from langgraph.runtime import Runtime

from planweave.memory import Action, Context, Replan, Tool, WorkingMemory
from planweave.nodes.deciding.selector import build_action, limit_approvals
from planweave.nodes.support.briefing import fill_prompt
from planweave.nodes.support.combined import select_connected
from planweave.nodes.support.replies import MAX_AT_ONCE, Plan, PlannedStep, PlanWithNeeds, steps_of
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import is_carried_out
from planweave.prompts import names


def planner(prompt: str, *, combined: str = "", tools: Sequence[Tool] = ()) -> Node:
    """Make the planner that uses this prompt, or its variant for the run if there is one.

    It records each change of a plan that is being carried out. An unreadable reply leaves such a
    plan as it is; before the start it leaves no plan, since a rejected plan must not be used.
    Without a plan the run continues with the selector, which takes one action or answers.

    Args:
        prompt: The default prompt.
        combined: The prompt for a reply that may also name the needs of each step, or plan nothing.
        tools: The tools for the steps, for the prompt ``combined``.
    """

    async def planner(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        if combined and context.in_one_prompt:  # the selector writes the plan
            return {}
        combines = bool(combined) and context.combines("planner")
        form: type[Plan | PlanWithNeeds] = PlanWithNeeds if combines else Plan
        name = combined if combines else _choose_variant(prompt, state, context)
        objection = state.get("objection", "")
        occasion = objection or state["replanning"]
        task = fill_prompt(name, state, occasion=occasion)
        reply = await ask_role(
            "planner", form, task, state, runtime, tools=tools if combines else ()
        )
        planned = reply.value.steps if reply.value else []
        steps, needs = steps_of(planned)
        update = spent(reply)
        if objection:
            update["objection"] = ""
        if is_carried_out(state) and (not steps or steps == state["plan"]):
            return update
        change = Replan(
            iteration=state["iteration"], reason=occasion, before=state["plan"], after=steps
        )
        is_changed = is_carried_out(state) and bool(state["plan"])
        update |= start_plan(steps, needs) | {"replans": [change] if is_changed else []}
        actions = _plan_first_actions(planned, {**state, **update}, context, tools)
        return update | {"action": actions[0] if actions else None, "actions": actions}

    return planner


def _choose_variant(prompt: str, state: WorkingMemory, context: Context) -> str:
    """The first variant of a prompt that exists and fits the run, or else the prompt itself."""
    fitting = {
        "zero_shot": context.planning == "zero_shot",  # without hints, as in the paper
        "when_read": state.get("whole"),
        "following": state["history"],
        "with_documents": context.has_documents,
    }
    variants = (f"{prompt}_{kind}" for kind, fits in fitting.items() if fits)
    return next((name for name in variants if name in names()), prompt)


def _plan_first_actions(
    planned: Sequence[str | PlannedStep],
    state: WorkingMemory,
    context: Context,
    tools: Sequence[Tool],
) -> list[Action]:
    """The actions of the steps that need no other step and name a tool and input."""
    written = [step for step in map(PlannedStep.model_validate, planned) if step.text.strip()]
    actions = [
        build_action(state, thought=step.text, tool=tool, input=step.input)
        | {"step": number, "completes": [number]}
        for number, step in enumerate(written, start=1)
        for tool in select_connected(tools, state)
        if step.tool == tool != "replan" and step.input.strip() and not step.needs
    ]
    return limit_approvals(actions, context)[: 1 if context.parallel is False else MAX_AT_ONCE]


def start_plan(steps: list[str], needs: list[list[int]]) -> WorkingMemory:
    """The update with a new plan; none of its steps is done."""
    return {"plan": steps, "needs": needs, "done_steps": [], "step": 1}
