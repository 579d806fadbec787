"""Planner: writes the plan of analysis before anything is read (PlanRAG, section 4, planning)."""

from collections.abc import Sequence
from functools import partial

from langgraph.runtime import Runtime

from planweave.memory import Action, Context, Replan, Tool, WorkingMemory
from planweave.nodes.deciding.selector import action_of, one_approval
from planweave.nodes.support.briefing import filled
from planweave.nodes.support.combined import ask_combined, connected
from planweave.nodes.support.replies import MAX_AT_ONCE, Plan, PlannedStep, PlanWithNeeds, steps_of
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import is_carried_out


def planner(
    prompt: str,
    *,
    with_documents: str = "",
    following: str = "",
    when_read: str = "",
    combined: str = "",
    zero_shot: str = "",
    tools: Sequence[Tool] = (),
) -> Node:
    """Make the planner that uses this prompt.

    A change of a plan that is being carried out is noted. An unreadable reply leaves that plan as
    it is; before the start there is then no plan, since one that was rejected must not be used.
    Without a plan the selector goes on: what needs no plan may still need one action, and one call
    of the selector either takes it or answers.

    Args:
        prompt: Its prompt.
        with_documents: Another prompt for a run that has documents.
        following: Another prompt for a question that follows up on earlier ones.
        when_read: Another prompt for a run that has read its documents whole.
        combined: The prompt where one reply may also say what each step needs, or plan nothing.
        zero_shot: The prompt that says nothing of how such a question is analysed, as published.
        tools: What the steps can be done with, for that prompt.
    """

    async def planner(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        if combined and context.in_one_prompt:  # the selector writes the plan, where it can
            return {}
        combines = bool(combined) and context.combines("planner")
        form: type[Plan | PlanWithNeeds] = PlanWithNeeds if combines else Plan
        special = (state.get("whole") and when_read) or (state["history"] and following)
        alone = special or (context.has_documents and with_documents) or prompt
        name = combined if combines else alone
        if zero_shot and context.planning == "zero_shot":
            name = zero_shot
        objection = state.get("objection", "")
        occasion = objection or state["replanning"]
        task = filled(name, state, occasion=occasion)
        ask = partial(ask_combined, tools=tools) if combines else ask_role
        reply = await ask("planner", form, task, state, runtime)
        planned = reply.value.steps if reply.value else []
        steps, needs = steps_of(planned)
        update = spent(reply)
        if objection:  # it is met: the next plan has another occasion
            update["objection"] = ""
        if is_carried_out(state) and (not steps or steps == state["plan"]):
            return update
        change = Replan(
            iteration=state["iteration"], reason=occasion, before=state["plan"], after=steps
        )
        is_changed = is_carried_out(state) and bool(state["plan"])
        update |= new_plan(steps, needs) | {"replans": [change] if is_changed else []}
        actions = _first_actions(planned, {**state, **update}, context, tools)
        return update | {"action": actions[0] if actions else None, "actions": actions}

    return planner


def _first_actions(
    planned: Sequence[str | PlannedStep],
    state: WorkingMemory,
    context: Context,
    tools: Sequence[Tool],
) -> list[Action]:
    """The actions of the steps that need no other step and say how they are carried out."""
    written = [step for step in map(PlannedStep.model_validate, planned) if step.text.strip()]
    actions = [
        action_of(state, thought=step.text, tool=tool, input=step.input)
        | {"step": number, "completes": [number]}
        for number, step in enumerate(written, start=1)
        for tool in connected(tools, state)
        if step.tool == tool != "replan" and step.input.strip() and not step.needs
    ]
    return one_approval(actions, context)[: 1 if context.parallel is False else MAX_AT_ONCE]


def new_plan(steps: list[str], needs: list[list[int]]) -> WorkingMemory:
    """A plan of which nothing is done yet."""
    return {"plan": steps, "needs": needs, "done_steps": [], "step": 1}
