"""Selector: turns the plan's open steps into thoughts and actions, or finishes."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, create_model

from planweave.memory import OWN_TOOLS, Action, Context, Tool, WorkingMemory
from planweave.models import StructuredFailure
from planweave.nodes.assist.asking import extra_temperature, only_tool
from planweave.nodes.support.briefing import tools_text, with_bound
from planweave.nodes.support.combined import SOURCES, ask_combined, connected, progress_text
from planweave.nodes.support.lengths import QUERY, THOUGHT
from planweave.nodes.support.limits import reason_to_answer, repeats
from planweave.nodes.support.replies import MAX_AT_ONCE, actions_form, answer_form
from planweave.nodes.support.role import Node, ask_role, spent
from planweave.nodes.support.turns import last_round, same, unreadable_turn
from planweave.prompts import load

_NUMBER = re.compile(r"\d")
_SAYS_NOTHING = StructuredFailure(
    kind="empty", message="It asks for no action and gives no answer."
)


def selector(prompt: str, tools: Sequence[Tool], *, combined: str = "") -> Node:
    """Make the selector that uses this prompt and chooses among ``tools``.

    Query tools without a connection are not offered, nor is ``replan`` where the re-planner sees
    every observation anyway or the plan was given. Once a limit is reached it chooses ``finish``
    without a model call.
    The prompt ``combined`` is for a reply that may ask for several actions at once, tick steps of
    the plan, and carry the answer.
    """
    template = load(prompt)

    async def selector(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        context = runtime.context
        if reason := reason_to_answer(state, context):
            last = action_of(state, thought=reason, tool="finish", input="")
            return {"action": last, "actions": []}
        if combined and context.combines("selector"):
            return await _several(combined, tools, state, runtime)
        bound = offered(tools, state, context)
        if action := only_tool(bound, state, context):
            return {"action": action, "actions": []}
        values = {
            "tools": tools_text(bound, state, context),
            "step": _step_text(state),
            "task": state.get("task", ""),
            "problem": problem_text(state),
        }
        task = template.fill(**{name: values[name] for name in template.placeholders})
        extra = extra_temperature(repeats(state["turns"]), "selector", context)
        reply = await ask_role(
            "selector", choice_of(bound), task, state, runtime, extra_temperature=extra
        )
        update: WorkingMemory = {"action": None, "actions": [], **spent(reply)}
        if reply.value is None:
            return update | unreadable_turn(state, reply.failure)
        return update | {"action": action_of(state, **reply.value.model_dump())}

    return selector


async def _several(
    prompt: str, tools: Sequence[Tool], state: WorkingMemory, runtime: Runtime[Context]
) -> WorkingMemory:
    """Ask for actions at once, or for none and the answer."""
    context = runtime.context
    most = 1 if context.parallel is False else MAX_AT_ONCE
    form = actions_form(connected(tools, state), answer_form(context), most)
    problems = [turn["problem"] for turn in last_round(state) if turn["problem"]]
    complaints = [load("common/problem").fill(problem=problem) for problem in problems]
    task = load(prompt).fill(now="\n".join([progress_text(state), *complaints]))
    extra = extra_temperature(repeats(state["turns"]), "selector", context)
    reply = await ask_combined(
        "selector", form, task, state, runtime, tools=tools, extra_temperature=extra
    )
    update: WorkingMemory = {"action": None, "actions": []}
    update |= spent(reply)
    if reply.value is None:
        return update | unreadable_turn(state, reply.failure)
    reply_fields = reply.value.model_dump()
    if not (reply_fields["actions"] or reply_fields["answer"] or state["facts"]):
        return update | unreadable_turn(state, _SAYS_NOTHING)
    actions = _actions(reply_fields, state, context)
    return update | {"action": actions[0], "actions": actions}


def _actions(reply: dict[str, Any], state: WorkingMemory, context: Context) -> list[Action]:
    """The actions of a reply, each once; another plan comes before them, no action finishes."""
    thought = reply["thought"]
    wanted = {(one["tool"], same(one["input"])): one for one in reply["actions"]}.values()
    chosen = []
    for one in wanted:
        action = action_of(state, thought=thought, tool=one["tool"], input=one["input"])
        ticks = sorted({number for number in one["completes"] if 0 < number <= len(state["plan"])})
        chosen.append(action | {"completes": ticks, "step": ticks[0] if ticks else action["step"]})
    if not chosen:
        answer = reply["answer"] or {}
        lacking = answer.get("unknown", "")
        last = action_of(state, thought=thought, tool="finish", input=lacking)
        return [last | {"answer": answer} if answer else last]
    if replans := [action for action in chosen if action["tool"] == "replan"]:
        return replans[:1]
    return one_approval(chosen, context)[: context.max_iterations - state["iteration"]]


def one_approval(actions: Sequence[Action], context: Context) -> list[Action]:
    """The actions but for a second one that waits for a person, who can answer one question."""
    bound = [action for action in actions if action["tool"] not in OWN_TOOLS]
    later = bound[1:] if context.approve_tools else []
    return [action for action in actions if action not in later]


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
        **{source: source in state["languages"] for source in SOURCES},
        "calculator": bool(state["facts"]) or _NUMBER.search(state["question"]) is not None,
        "replan": context.replan == "adaptive" and not state["given_plan"],
    }
    return tuple(tool for tool in with_bound(tools, state) if useful.get(tool, True))


def problem_text(state: WorkingMemory) -> str:
    """The last action's problem once more, at the end of the prompt, where it is not overlooked."""
    problem = state["turns"][-1]["problem"] if state["turns"] else ""
    return (
        load("common/problem").fill(problem=problem)
        if problem
        else load("common/no_problem").fill()
    )
