"""The questions asked on the edges that several methods share; each answer names an edge."""

from typing import Literal

from langgraph.runtime import Runtime

from memory import Context, Tool, WorkingMemory

RECURSION_LIMIT = 500
"""Super-steps a run may take: above what the largest ``Context.max_iterations`` needs."""


def beginning(state: WorkingMemory) -> Literal["greeting", "no_plan", "predefined_plan"]:
    """How a run starts: a greeting is only answered, a predefined plan needs no planner."""
    if state["greeting"]:
        return "greeting"
    return "predefined_plan" if state["plan"] else "no_plan"


def approval(state: WorkingMemory) -> Literal["approved", "rejected"]:
    """Whether a person sent the plan back to the planner."""
    return "rejected" if state["replanning"] else "approved"


def chosen(state: WorkingMemory) -> Tool | Literal["unreadable"]:
    """The tool that the selector chose."""
    return state["action"]["tool"] if state["action"] else "unreadable"


def doubt(state: WorkingMemory, runtime: Runtime[Context]) -> Literal["doubtful", "sound"]:
    """Whether the re-planner judges the plan: by the context's policy."""
    always = runtime.context.replan == "every_observation"
    return "doubtful" if always or state["replanning"] else "sound"
