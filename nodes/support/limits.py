"""When a loop has to stop: iterations, budgets, and no new idea."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from planweave.memory import Answer, Context, Turn, WorkingMemory, total_usage
from planweave.nodes.support.turns import same
from planweave.usage import Budget, End, Usage, current_meter, ending

OUT_OF_TIME = "out_of_time"
"""Kind of failure: a model was not asked any more, or its reply did not come in time."""

_MOST_REPEATS = 2
_CALLS_AFTER = 2  # a step that is under way at the limit may read a page; then the run answers


def reason_to_answer(state: WorkingMemory, context: Context) -> str:
    """Why the run must answer now with what it knows, or an empty string.

    Limits end the gathering of facts; the one answering call that follows is still made, unless it
    is the time that is over.
    """
    if state["iteration"] >= context.max_iterations:
        return f"The limit of {context.max_iterations} iterations is reached."
    if reason := budget_spent(state, context):
        return reason
    if repeats(state["turns"]) >= _MOST_REPEATS:
        return "The same actions come again and again."
    return ""


def budget_spent(state: WorkingMemory, context: Context) -> str:
    """Which budget is spent, or an empty string."""
    if late := out_of_time(state, context):
        return late
    budget = Budget(calls=context.max_calls, tokens=context.max_tokens, dollars=context.max_dollars)
    meter = current_meter()
    return budget.exhausted(_used(state)) or (meter.exhausted() if meter else "") or ""


def _used(state: WorkingMemory) -> Usage:
    """What the run has used.

    The state can be edited, and be that of an earlier checkpoint: where a meter counts, the run has
    used what the meter says at least.
    """
    used, meter = total_usage(state.get("usage", {})), current_meter()
    return used.at_least(meter.used) if meter else used


def out_of_time(state: WorkingMemory, context: Context) -> str:
    """Why no model is asked any more, in a sentence; empty while there is time."""
    late = (one["detail"] for one in state.get("failures", ()) if one["kind"] == OUT_OF_TIME)
    return next(late, "") or Budget(seconds=context.max_seconds).exhausted(_used(state)) or ""


@contextmanager
def time_left(state: WorkingMemory, context: Context | None) -> Iterator[None]:
    """Have calls of models inside the block cut off when the time of the run is over."""
    if context is None or context.max_seconds is None:
        yield
        return
    limit = context.max_seconds
    late = out_of_time(state, context)
    left = 0.0 if late else limit - _used(state).seconds
    reason = late or Budget(seconds=limit).exhausted(Usage(seconds=limit)) or ""
    with ending(End(monotonic() + left, reason)):
        yield


def known_so_far(answer: Answer, state: WorkingMemory, context: Context) -> Answer:
    """The answer; where the time was over before it, that, and the facts that are known."""
    late = out_of_time(state, context)
    if not late or answer["decision"] or answer["why"] or answer["facts"]:
        return answer
    facts = [fact["number"] for fact in state["facts"]]
    known = "".join(f"[{number}]" for number in facts)
    found = f"Known so far: {known}." if known else "Nothing is known so far."
    return answer | {"facts": facts, "unknown": f"{late} {found}"}


def runs_within(context: Context, spent: Usage) -> int:
    """How many runs an ensemble can afford: each needs a call before those that come after."""
    if context.max_calls is None:
        return context.ensemble_runs
    left = context.max_calls - spent.calls
    return min(context.ensemble_runs, max(1, left // (1 + _CALLS_AFTER)))


def one_of(runs: int, context: Context, spent: Usage) -> Context:
    """The context of one of several runs that go on at once: its limits are its share."""
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
