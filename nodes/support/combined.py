"""Prompts of PlanRAG for replies that may hold several things at once.

Planner, selector and re-planner share everything that stays the same in a run, so that a prompt
cache reads it once. If :meth:`Context.combines` is false, each reply contains one thing, as in the
paper.
"""

from collections.abc import Sequence

from planweave.memory import SOURCES, Context, Tool, WorkingMemory
from planweave.nodes.support.briefing import insert_bound_tools, tools_text
from planweave.prompts import load


def select_connected(tools: Sequence[Tool], state: WorkingMemory) -> tuple[Tool, ...]:
    """Select the tools that act and do not need a source that is not connected.

    ``replan`` is left out if the plan was given.
    """
    excluded = {"thinking", "finish", *(["replan"] if state["given_plan"] else [])}
    usable = (tool for tool in insert_bound_tools(tools, state) if tool not in excluded)
    return tuple(tool for tool in usable if tool not in SOURCES or tool in state["languages"])


def instructions_text(tools: Sequence[Tool], state: WorkingMemory, context: Context) -> str:
    """The instructions; the same in every prompt of a run."""
    at_once = "planrag/one_action" if context.parallel is False else "planrag/actions_at_once"
    return load("planrag/how").fill(
        at_once=load(at_once).fill(),
        tools=tools_text(select_connected(tools, state), state, context),
        answer=answer_text(context),
    )


def answer_text(context: Context) -> str:
    """The instructions for an answer inside another reply."""
    return load("common/words_form" if context.in_words else "common/decision_form").fill()


def open_steps(state: WorkingMemory) -> list[int]:
    """Numbers of the plan's steps that are not done."""
    done = {*state.get("done_steps", ())}  # a thread of an earlier version has none
    return [number for number in range(1, len(state["plan"]) + 1) if number not in done]


def progress_text(state: WorkingMemory) -> str:
    """The completed steps, the open steps, and the results that these still need."""
    if not state["plan"]:
        return load("planrag/nothing_planned").fill()
    left = open_steps(state)
    if not left:
        return load("planrag/all_done").fill()
    done = _join_numbers(state["done_steps"]) or "none"
    return load("planrag/steps").fill(
        done=done, open=", ".join(_step_with_needs(number, state) for number in left)
    )


def _step_with_needs(number: int, state: WorkingMemory) -> str:
    needs = state["needs"][number - 1] if number <= len(state["needs"]) else []
    missing = [need for need in needs if need not in state["done_steps"]]
    return f"{number} (needs {_join_numbers(missing)})" if missing else str(number)


def _join_numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
