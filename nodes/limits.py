"""When a loop has to stop: iterations and budgets."""

from memory import Context, WorkingMemory, total_spent


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
    return ""
