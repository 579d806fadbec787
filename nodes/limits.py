"""When a loop has to stop: iterations, budgets, and no new idea."""

from collections.abc import Sequence

from memory import Context, Turn, WorkingMemory, total_spent

_REPEATS = 2


def reason_to_answer(state: WorkingMemory, context: Context) -> str:
    """Why the run must answer now with what it knows, or an empty string.

    Limits end the gathering of facts; the one answering call that follows is still made.
    """
    spent = total_spent(state["usage"])
    tokens = spent["input_tokens"] + spent["output_tokens"]
    reached = {
        "iterations": (state["iteration"], context.max_iterations),
        "model calls": (spent["calls"], context.max_calls),
        "tokens": (tokens, context.max_tokens),
        "seconds": (spent["seconds"], context.max_seconds),
        "dollars": (spent["dollars"] or 0.0, context.max_dollars),
    }
    for what, (used, limit) in reached.items():
        if limit is not None and used >= limit:
            return f"The limit of {limit:g} {what} is reached."
    if _is_stuck(state["turns"]):
        return "The same actions come again and again."
    return ""


def _is_stuck(turns: Sequence[Turn]) -> bool:
    """Whether the last turns only repeated earlier ones: at temperature 0 that goes on for ever."""
    actions = [(turn["tool"], turn["input"]) for turn in turns]
    last = range(len(actions) - _REPEATS, len(actions))
    return last.start > 0 and all(actions[i] in actions[:i] for i in last)
