"""When a loop has to stop: iterations, budgets, and no new idea."""

from collections.abc import Sequence

from memory import Context, Turn, WorkingMemory, total_usage
from planweave.usage import Budget

_REPEATS = 2


def reason_to_answer(state: WorkingMemory, context: Context) -> str:
    """Why the run must answer now with what it knows, or an empty string.

    Limits end the gathering of facts; the one answering call that follows is still made.
    """
    if state["iteration"] >= context.max_iterations:
        return f"The limit of {context.max_iterations} iterations is reached."
    budget = Budget(
        calls=context.max_calls,
        tokens=context.max_tokens,
        seconds=context.max_seconds,
        dollars=context.max_dollars,
    )
    if reason := budget.exhausted(total_usage(state["usage"])):
        return reason
    if _is_stuck(state["turns"]):
        return "The same actions come again and again."
    return ""


def _is_stuck(turns: Sequence[Turn]) -> bool:
    """Whether the last turns only repeated earlier ones: at temperature 0 that goes on for ever."""
    actions = [(turn["tool"], turn["input"]) for turn in turns]
    last = range(len(actions) - _REPEATS, len(actions))
    return last.start > 0 and all(actions[i] in actions[:i] for i in last)
