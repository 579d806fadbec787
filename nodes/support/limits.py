"""When a loop has to stop: iterations, budgets, and no new idea."""

from collections.abc import Sequence

from planweave.memory import Context, Turn, WorkingMemory, total_usage
from planweave.nodes.support.turns import same
from planweave.usage import Budget, Usage, current_meter

_MOST_REPEATS = 2
_CALLS_AFTER = 2  # a step that is under way at the limit may read a page; then the run answers


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
    return budget.exhausted(used.at_least(meter.used)) or meter.exhausted() or ""


def runs_within(context: Context, spent: Usage) -> int:
    """How many runs an ensemble can afford: each needs a call before those that come after."""
    if context.max_calls is None:
        return context.ensemble_runs
    left = context.max_calls - spent.calls
    return min(context.ensemble_runs, max(1, left // (1 + _CALLS_AFTER)))


def one_of(runs: int, context: Context, spent: Usage) -> Context:
    """The context of one of several runs that go on at once: its limits are its share.

    Args:
        runs: How many share what is left.
        context: Of the run that they are part of.
        spent: What that run has used before.
    """
    share: dict[str, float] = {}
    if (calls := context.max_calls) is not None:
        share["max_calls"] = max(1, (calls - spent.calls) // runs - _CALLS_AFTER)
    if (tokens := context.max_tokens) is not None:
        used = spent.input_tokens + spent.output_tokens
        share["max_tokens"] = max(1, (tokens - used) // runs)
    if (seconds := context.max_seconds) is not None:
        share["max_seconds"] = max(0.001, (seconds - spent.seconds) / runs)
    if (dollars := context.max_dollars) is not None:
        share["max_dollars"] = max(1e-9, (dollars - spent.dollars) / runs)
    return context.model_copy(update=share)


def repeats(turns: Sequence[Turn]) -> int:
    """How many of the last turns only repeated earlier ones, and brought no fact."""
    actions = [(turn["tool"], same(turn["input"])) for turn in turns]
    found = [bool(turn["facts"]) for turn in turns]
    count = 0
    while actions and actions.pop() in actions and not found.pop():
        count += 1
    return count
