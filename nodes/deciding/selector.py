"""Selector: turns the plan's open steps into thoughts and actions, or finishes."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, create_model

from planweave.memory import OWN_TOOLS, SOURCES, Action, Context, Tool, WorkingMemory
from planweave.models import StructuredFailure
from planweave.nodes.assist.asking import extra_temperature, use_only_tool
from planweave.nodes.support.briefing import insert_bound_tools, tools_text
from planweave.nodes.support.combined import progress_text, select_connected
from planweave.nodes.support.lengths import QUERY, THOUGHT
from planweave.nodes.support.limits import count_repetitions, reason_to_answer
from planweave.nodes.support.replies import MAX_AT_ONCE, actions_form, answer_form
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import last_round, normalise, unreadable_turn
from planweave.prompts import load

_NUMBER = re.compile(r"\d")
_EMPTY_REPLY = StructuredFailure(kind="empty", message="It asks for no action and gives no answer.")


def selector(prompt: str, tools: Sequence[Tool], *, combined: str = "") -> Node:
    """Make the selector that uses this prompt and chooses among ``tools``.

    It does not offer query tools without a connection. It does not offer ``replan`` if the
    re-planner sees every observation anyway or the plan was given. At a limit it chooses ``finish``
    without a model call. The prompt ``combined`` is for a reply that may ask for several actions,
    mark completed steps, and hold the answer.
    """
    template = load(prompt)

    async def selector(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        if reason := reason_to_answer(state, context):
            last = build_action(state, thought=reason, tool="finish", input="")
            return {"action": last, "actions": []}
        if combined and context.combines("selector"):
            return await _choose_several(combined, tools, state, runtime)
        usable = select_usable(tools, state, context)
        if action := use_only_tool(usable, state, context):
            return {"action": action, "actions": []}
        values = {
            "tools": tools_text(usable, state, context),
            "step": _step_text(state),
            "task": state.get("task", ""),
            "problem": problem_text(state),
        }
        task = template.fill(**{name: values[name] for name in template.placeholders})
        extra = extra_temperature(count_repetitions(state["turns"]), "selector", context)
        reply = await ask_role(
            "selector", choice_form(usable), task, state, runtime, extra_temperature=extra
        )
        update: WorkingMemory = {"action": None, "actions": [], **spent(reply)}
        if reply.value is None:
            return update | unreadable_turn(state, reply.failure)
        return update | {"action": build_action(state, **reply.value.model_dump())}

    return selector


async def _choose_several(
    prompt: str, tools: Sequence[Tool], state: WorkingMemory, runtime: Runtime[Context]
) -> WorkingMemory:
    """Ask for several actions, or for none and the answer."""
    context = runtime.context
    most = 1 if context.parallel is False else MAX_AT_ONCE
    form = actions_form(select_connected(tools, state), answer_form(context), most)
    problems = [turn["problem"] for turn in last_round(state) if turn["problem"]]
    complaints = [load("common/problem").fill(problem=problem) for problem in problems]
    task = load(prompt).fill(now="\n".join([progress_text(state), *complaints]))
    extra = extra_temperature(count_repetitions(state["turns"]), "selector", context)
    reply = await ask_role(
        "selector", form, task, state, runtime, tools=tools, extra_temperature=extra
    )
    update: WorkingMemory = {"action": None, "actions": []}
    update |= spent(reply)
    if reply.value is None:
        return update | unreadable_turn(state, reply.failure)
    reply_fields = reply.value.model_dump()
    if not (reply_fields["actions"] or reply_fields["answer"] or state["facts"]):
        return update | unreadable_turn(state, _EMPTY_REPLY)
    actions = _build_actions(reply_fields, state, context)
    return update | {"action": actions[0], "actions": actions}


def _build_actions(reply: dict[str, Any], state: WorkingMemory, context: Context) -> list[Action]:
    """The distinct actions of a reply; ``replan`` replaces all others, and none means finish."""
    thought = reply["thought"]
    distinct = {(one["tool"], normalise(one["input"])): one for one in reply["actions"]}.values()
    chosen = []
    for one in distinct:
        action = build_action(state, thought=thought, tool=one["tool"], input=one["input"])
        ticks = sorted({number for number in one["completes"] if 0 < number <= len(state["plan"])})
        chosen.append(action | {"completes": ticks, "step": ticks[0] if ticks else action["step"]})
    if not chosen:
        answer = reply["answer"] or {}
        lacking = answer.get("unknown", "")
        last = build_action(state, thought=thought, tool="finish", input=lacking)
        return [last | {"answer": answer} if answer else last]
    if replans := [action for action in chosen if action["tool"] == "replan"]:
        return replans[:1]
    return limit_approvals(chosen, context)[: context.max_iterations - state["iteration"]]


def limit_approvals(actions: Sequence[Action], context: Context) -> list[Action]:
    """Keep only the first action that needs approval; a person answers one request at a time."""
    bound = [action for action in actions if action["tool"] not in OWN_TOOLS]
    later = bound[1:] if context.approve_tools else []
    return [action for action in actions if action not in later]


@cache
def choice_form(tools: tuple[Tool, ...]) -> type[BaseModel]:
    """The schema of the reply; the tool is one of these."""
    fields: dict[str, Any] = {
        "thought": (str, Field(max_length=THOUGHT)),
        "tool": (Literal[tools], ...),
        "input": (str, Field(max_length=QUERY)),
    }
    return create_model("Choice", **fields)


def build_action(state: WorkingMemory, *, thought: str, tool: Tool, input: str) -> Action:  # noqa: A002
    """Build an action at the present step of the plan."""
    return Action(
        step=min(state["step"], max(1, len(state["plan"]))),
        thought=thought.strip(),
        tool=tool,
        input=input.strip(),
    )


def _step_text(state: WorkingMemory) -> str:
    """The next step of the plan; without a plan, the same text as when all steps are done."""
    number, plan = state["step"], state["plan"]
    if number > len(plan):
        return load("planrag/all_steps_done").fill()
    return load("planrag/next_step").fill(number=str(number), step=plan[number - 1])


def select_usable(
    tools: Sequence[Tool], state: WorkingMemory, context: Context
) -> tuple[Tool, ...]:
    """Select the ``tools`` that can be used now: connected, and with something to work on."""
    is_usable: dict[str, bool] = {
        **{source: source in state["languages"] for source in SOURCES},
        "calculator": bool(state["facts"]) or _NUMBER.search(state["question"]) is not None,
        "replan": context.replan == "adaptive" and not state["given_plan"],
    }
    return tuple(tool for tool in insert_bound_tools(tools, state) if is_usable.get(tool, True))


def problem_text(state: WorkingMemory) -> str:
    """The last action's problem, for the end of the prompt, where models do not overlook it."""
    problem = state["turns"][-1]["problem"] if state["turns"] else ""
    return (
        load("common/problem").fill(problem=problem)
        if problem
        else load("common/no_problem").fill()
    )
