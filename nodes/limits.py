"""When a loop has to stop: iterations, budgets, and no new idea."""

from collections.abc import Sequence

from planweave.memory import Context, Turn, WorkingMemory, total_usage
from planweave.nodes.turns import same
from planweave.usage import Budget, current_meter

_MOST_REPEATS = 2


def reason_to_answer(state: WorkingMemory, context: Context) -> str:
    """Why the run must answer now with what it knows, or an empty string.

    Limits end the gathering of facts; the one answering call that follows is still made.
    """
    if state["iteration"] >= context.max_iterations:
        return f"The limit of {context.max_iterations} iterations is reached."
    if reason := budget_spent(state, context):
        return reason
    if repeats(state["turns"]) >= _MOST_REPEATS:
        return "The same actions come again and again."
    return ""


def budget_spent(state: WorkingMemory, context: Context) -> str:
    """Which budget is spent, or an empty string.

    The state can be edited, and be that of an earlier checkpoint: where a meter counts, the run has
    used what the meter says at least.
    """
    budget = Budget(
        calls=context.max_calls,
        tokens=context.max_tokens,
        seconds=context.max_seconds,
        dollars=context.max_dollars,
    )
    used, meter = total_usage(state["usage"]), current_meter()
    if meter is None:
        return budget.exhausted(used) or ""
    return budget.exhausted(used.at_least(meter.used)) or meter.budget.exhausted(meter.used) or ""


def repeats(turns: Sequence[Turn]) -> int:
    """How many of the last turns only repeated earlier ones, and brought no fact."""
    actions = [(turn["tool"], same(turn["input"])) for turn in turns]
    found = [bool(turn["facts"]) for turn in turns]
    count = 0
    while actions and actions.pop() in actions and not found.pop():
        count += 1
    return count
