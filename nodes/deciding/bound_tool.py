"""Bound tool: calls a LangChain tool of the setting ``tools``."""

import json
from collections.abc import Mapping
from math import isfinite
from time import perf_counter
from typing import Any

from langgraph.runtime import Runtime

from planweave import PlanweaveError
from planweave.memory import Context, Found, WorkingMemory
from planweave.nodes.deciding.plan_approval import ask_person
from planweave.nodes.support.turns import chosen_action, repetition, turn_taken
from planweave.tools.bound import TOOLS, ToolFailed, call_tool, parse_arguments


async def bound_tool(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Call the chosen tool; its result becomes a fact with the tool's name as source.

    With ``approve_tools`` it first waits for a person's approval.
    """
    context, action = runtime.context, chosen_action(state)
    started = perf_counter()
    found: list[Found] = []
    problem = repetition(state)
    if not problem:
        try:
            tool = TOOLS.get(action["tool"])
            given = parse_arguments(tool, action["input"])
            if context.approve_tools:
                given = _ask_approval(tool.name, given)
            result = await call_tool(tool, given, seconds=context.query_seconds)
            found = [_describe(result, context.observation_characters)]
        except PlanweaveError as error:
            problem = str(error)
    return turn_taken(state, found, problem, perf_counter() - started)


def _describe(result: Any, characters: int) -> Found:
    """The result of the tool as text, and as named values if it has any."""
    values: dict[str, Any] = {}
    if isinstance(result, Mapping):
        values = {str(key): one for key, one in result.items() if _is_value(one)}
    elif _is_value(result) and not isinstance(result, str):
        values = {"value": result}
    text = result if isinstance(result, str) else _to_text(result)
    if len(text) > characters:
        text = f"{text[:characters]} … ({len(text) - characters} more characters)"
    return Found(text=text, values=values, quote=None)


def _is_value(one: object) -> bool:
    return isinstance(one, str | int) or (isinstance(one, float) and isfinite(one))


def _to_text(result: object) -> str:
    """JSON, or else Python's ``repr``, as for a result that contains itself."""
    try:
        return json.dumps(result, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(result)


def _ask_approval(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Wait for a person; return the arguments that they approve or edit."""

    def decide(decision: dict[str, Any]) -> dict[str, Any]:
        match decision["type"]:
            case "approve":
                return given
            case "edit":
                return parse_arguments(
                    TOOLS.get(name), json.dumps(decision["edited_action"]["args"])
                )
            case "reject" | "respond":  # who answers in words
                note = str(decision.get("message") or "Do without it.")
                raise ToolFailed(f"A person refused this call: {note}")
        raise ValueError(f"{decision['type']!r} is not a valid decision here")

    question = f"Call {name} with {json.dumps(given)}?"
    return ask_person(name, given, question, ("approve", "edit", "reject"), decide)
