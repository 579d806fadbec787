"""When a loop has to stop: iterations, budgets, and repetition."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from planweave.memory import Answer, Context, Turn, WorkingMemory, total_usage
from planweave.nodes.support.turns import normalise
from planweave.usage import Budget, End, Usage, current_meter, ending

OUT_OF_TIME = "out_of_time"
"""Kind of failure: the time was over before the call or before its reply."""

_MAX_REPETITIONS = 2
_CALLS_AFTER = 2  # after the limit: the present step may read a page, then the run answers


def reason_to_answer(state: WorkingMemory, context: Context) -> str:
    """Why the run must answer now with what it knows, or an empty string.

    Limits end the gathering of facts. The run still makes the one call that answers, unless the
    time is over.
    """
    if state["iteration"] >= context.max_iterations:
        return f"The limit of {context.max_iterations} iterations is reached."
    if reason := budget_spent(state, context):
        return reason
    if count_repetitions(state["turns"]) >= _MAX_REPETITIONS:
        return "The same actions come again and again."
    return ""


def budget_spent(state: WorkingMemory, context: Context) -> str:
    """Which budget is spent, or an empty string."""
    if reason := out_of_time(state, context):
        return reason
    budget = Budget(calls=context.max_calls, tokens=context.max_tokens, dollars=context.max_dollars)
    meter = current_meter()
    return budget.exhausted(_usage_of_run(state)) or (meter.exhausted() if meter else "") or ""


def _usage_of_run(state: WorkingMemory) -> Usage:
    """The usage of the run: at least what a meter has counted, if there is one.

    The state may have been edited, or may be that of an earlier checkpoint.
    """
    used, meter = total_usage(state.get("usage", {})), current_meter()
    return used.at_least(meter.used) if meter else used


def out_of_time(state: WorkingMemory, context: Context) -> str:
    """Why the time is over, in a sentence; empty while there is time."""
    reasons = (one["detail"] for one in state.get("failures", ()) if one["kind"] == OUT_OF_TIME)
    return (
        next(reasons, "")
        or Budget(seconds=context.max_seconds).exhausted(_usage_of_run(state))
        or ""
    )


@contextmanager
def limit_call_time(state: WorkingMemory, context: Context | None) -> Iterator[None]:
    """Cut off the model calls of the block when the time of the run is over."""
    if context is None or context.max_seconds is None:
        yield
        return
    limit = context.max_seconds
    past_limit = out_of_time(state, context)
    left = 0.0 if past_limit else limit - _usage_of_run(state).seconds
    reason = past_limit or Budget(seconds=limit).exhausted(Usage(seconds=limit)) or ""
    with ending(End(monotonic() + left, reason)):
        yield


def add_known_facts(answer: Answer, state: WorkingMemory, context: Context) -> Answer:
    """Add the known facts to an answer that the end of the time has cut off."""
    reason = out_of_time(state, context)
    if not reason or answer["decision"] or answer["why"] or answer["facts"]:
        return answer
    facts = [fact["number"] for fact in state["facts"]]
    known = "".join(f"[{number}]" for number in facts)
    found = f"Known so far: {known}." if known else "Nothing is known so far."
    return answer | {"facts": facts, "unknown": f"{reason} {found}"}


def count_affordable_runs(context: Context, spent: Usage) -> int:
    """How many runs an ensemble can afford: each needs a call besides those after the limit."""
    if context.max_calls is None:
        return context.ensemble_runs
    left = context.max_calls - spent.calls
    return min(context.ensemble_runs, max(1, left // (1 + _CALLS_AFTER)))


def share_limits(runs: int, context: Context, spent: Usage) -> Context:
    """The context of one of several parallel runs, with its share of the limits."""
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


def count_repetitions(turns: Sequence[Turn]) -> int:
    """Count the last turns that only repeated earlier ones and found no fact."""
    actions = [(turn["tool"], normalise(turn["input"])) for turn in turns]
    found = [bool(turn["facts"]) for turn in turns]
    count = 0
    while actions and actions.pop() in actions and not found.pop():
        count += 1
    return count
