"""Adds the outcome of an action to working memory."""

from collections.abc import Callable, Sequence
from time import perf_counter

from planweave import PlanweaveError
from planweave.memory import (
    LOCAL,
    Action,
    Fact,
    Found,
    Observed,
    Turn,
    UsageByRole,
    WorkingMemory,
)
from planweave.models import CallRecord, StructuredFailure
from planweave.usage import Usage

_QUERY_TOOLS = ("sql", "cypher")


def take_turn(state: WorkingMemory, run: Callable[[Action], Found | str]) -> WorkingMemory:
    """Run the chosen action; what it finds becomes the next numbered fact.

    An error becomes a problem, and so does a text that is not empty. A repeated action is not run
    again; its problem refers to the first outcome.
    """
    action = chosen_action(state)
    started = perf_counter()
    result: Found | str = repetition(state)
    failed = False
    if not result:
        try:
            result = run(action)
        except PlanweaveError as error:
            result, failed = str(error), True
    found, problem = ([], result) if isinstance(result, str) else ([result], "")
    return turn_taken(state, found, problem, perf_counter() - started, failed=failed)


def as_seen_by(owner: str, error: PlanweaveError) -> PlanweaveError:
    """An error in a turn; only the owner ``LOCAL`` sees the address of a source."""
    return error if owner == LOCAL else error.without_address()


def chosen_action(state: WorkingMemory) -> Action:
    """The action that the selector chose."""
    if state["action"] is None:
        raise RuntimeError("A tool node runs only after the selector chose its tool.")
    return state["action"]


def turn_taken(
    state: WorkingMemory,
    found: Sequence[Found],
    problem: str,
    seconds: float,
    *,
    failed: bool = False,
    calls: Sequence[CallRecord] = (),
    corrected: Sequence[str] = (),
) -> WorkingMemory:
    """What a finished action adds to working memory.

    The seconds of the model ``calls`` within it count as theirs, not as the tool's. For the
    re-planner, ``replanning`` names what puts the plan in doubt; it is empty after a good result.
    The result of one of several parallel actions waits for the observer, which numbers it.
    """
    action = chosen_action(state)
    first = len(state["facts"]) + 1
    facts: list[Fact] = [
        {"number": number, "source": action["tool"], "query": action["input"], **one}
        for number, one in enumerate(found, start=first)
    ]
    turn = _build_turn(state, action, facts, problem, seconds)
    if failed:
        turn["failed"] = True
    if corrected:
        turn["corrected"] = [*corrected]
    own = max(0.0, seconds - sum(call.seconds for call in calls))
    used: UsageByRole = {action["tool"]: Usage(seconds=own).model_dump()}
    if is_parallel(state):
        return {"observed": [Observed(turn=turn, facts=facts)], "usage": used}
    update: WorkingMemory = {
        "facts": facts,
        "turns": [turn],
        "iteration": state["iteration"] + 1,
        "replanning": problem,
        "usage": used,
    }
    if "completes" not in action:  # else the observer ticks the plan
        update["step"] = action["step"] + (0 if problem else 1)
    return update


def last_round(state: WorkingMemory) -> list[Turn]:
    """The turns of the last round of actions."""
    return state["turns"][-max(1, len(state.get("actions", ()))) :]


def is_first_error(state: WorkingMemory) -> bool:
    """Whether the only problems are failed queries, and the turn before did not fail."""
    latest = last_round(state)
    wrong = [turn for turn in latest if turn["problem"]]
    before = state["turns"][: -len(latest)][-1:]
    return (
        bool(wrong)
        and all(turn.get("failed") and turn["tool"] in _QUERY_TOOLS for turn in wrong)
        and not any(turn.get("failed") for turn in before)
        and state["replanning"] == " ".join(dict.fromkeys(turn["problem"] for turn in wrong))
    )


def is_carried_out(state: WorkingMemory) -> bool:
    """Whether a step of the plan has begun; reading a whole collection is not a step."""
    return any(turn["step"] for turn in state["turns"])


def is_parallel(state: WorkingMemory) -> bool:
    """Whether the action runs in parallel with others."""
    return len(state.get("actions", ())) > 1


def unreadable_turn(state: WorkingMemory, failure: StructuredFailure | None) -> WorkingMemory:
    """A turn for a reply that could not be read, so that the next prompt differs."""
    action = Action(step=state["step"], thought="", tool="thinking", input="")
    problem = f"The reply could not be read: {failure.message if failure else 'empty'}"
    if failure and failure.kind == "out_of_time":
        problem = failure.message
    return {
        "turns": [_build_turn(state, action, [], problem, 0.0)],
        "iteration": state["iteration"] + 1,
    }


def _build_turn(
    state: WorkingMemory, action: Action, facts: Sequence[Fact], problem: str, seconds: float
) -> Turn:
    turn = Turn(
        iteration=state["iteration"] + 1,
        step=action["step"],
        thought=action["thought"],
        tool=action["tool"],
        input=action["input"],
        facts=[fact["number"] for fact in facts],
        problem=problem,
        seconds=seconds,
    )
    if "completes" in action:
        turn["completes"] = action["completes"]
    return turn


def normalise(text: str) -> str:
    """An input without differences in spaces or a last semicolon."""
    return " ".join(text.split()).rstrip("; ")


def repetition(state: WorkingMemory) -> str:
    """The problem of a repeated action, with its first outcome; empty for a new action."""
    for turn in _earlier_turns(state):
        numbers = ", ".join(f"[{number}]" for number in turn["facts"])
        outcome = f"fact {numbers}" if numbers else turn["problem"]
        return f"This action was already taken and led to: {outcome}"
    return ""


def count_earlier_turns(state: WorkingMemory) -> int:
    """How often the chosen action was taken before."""
    return len(_earlier_turns(state))


def _earlier_turns(state: WorkingMemory) -> list[Turn]:
    action = chosen_action(state)
    kind = (action["tool"], normalise(action["input"]))
    return [turn for turn in state["turns"] if (turn["tool"], normalise(turn["input"])) == kind]


def is_follow_up(state: WorkingMemory) -> bool:
    """Whether the conversation has earlier questions, so that this one may mean little alone."""
    return sum(message.type == "human" for message in state.get("messages", ())) > 1
