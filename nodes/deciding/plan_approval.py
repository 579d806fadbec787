"""Plan approval: a person approves, edits or rejects the plan before it is carried out."""

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from planweave import PlanweaveError
from planweave.memory import Context, WorkingMemory
from planweave.nodes.support.briefing import plan_text
from planweave.nodes.support.turns import is_carried_out

Decided = TypeVar("Decided")
UNUSABLE = "The last answer could not be used"
"""Beginning of a request that asks again."""


def plan_approval(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
    """Stop until a person has decided (:func:`ask_person`).

    Only the first plan of a run needs approval. An edit contains ``edited_action.args.plan``; a
    rejection or response contains a ``message`` and goes back to the planner.
    """
    plan = state["plan"]
    if not runtime.context.approve or not plan or is_carried_out(state):
        return {"replanning": ""}
    question = f"Carry out this plan?\n{plan_text(plan)}"
    decisions = ("approve", "edit", "reject", "respond")
    return ask_person("carry_out_plan", {"plan": plan}, question, decisions, _apply_decision)


def ask_person(
    name: str,
    args: dict[str, Any],
    question: str,
    decisions: Sequence[str],
    decide: Callable[[dict[str, Any]], Decided],
) -> Decided:
    """Interrupt the run until a person has decided, in the format of LangChain's chat clients.

    The interrupt contains ``{"action_requests": …, "review_configs": …}`` and is resumed with
    ``{"decisions": [{"type": …, …}]}``. If ``decide`` cannot use a decision, the person is asked
    again, with the reason.
    """
    problem = ""
    while True:
        request = {"name": name, "args": args, "description": problem + question}
        review = {"action_name": name, "allowed_decisions": [*decisions]}
        resumed = interrupt({"action_requests": [request], "review_configs": [review]})
        try:
            return decide(resumed["decisions"][0])
        except PlanweaveError:
            raise
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            problem = f"{UNUSABLE} ({error!r}). "


def _apply_decision(decision: dict[str, Any]) -> WorkingMemory:
    match decision["type"]:
        case "approve":
            return {"replanning": ""}
        case "edit":
            steps = _split_steps(decision["edited_action"]["args"]["plan"])
            plan = [line for step in steps if (line := str(step).strip())]
            if not plan:
                raise ValueError("edited_action.args.plan must be a list of steps")
            edited: WorkingMemory = {"plan": plan, "needs": [], "action": None, "actions": []}
            return edited | {"replanning": ""}
        case "reject" | "respond":
            note = str(decision.get("message") or "Make a different plan.")
            objection = f"The plan was rejected by a person: {note}"
            return {"replanning": objection, "given_plan": False}
    raise ValueError(f"unknown decision type {decision['type']!r}")


def _split_steps(edited: list[str] | str) -> list[str]:
    """Split edited steps; a chat page may send them as text, in JSON or line by line."""
    if not isinstance(edited, str):
        return edited
    try:
        steps = json.loads(edited)
    except (ValueError, RecursionError):
        return edited.splitlines()
    return steps if isinstance(steps, list) else [edited]
