"""How the outcome of an action enters working memory."""

from collections.abc import Callable, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import NamedTuple

from memory import Action, Fact, Turn, Value, WorkingMemory
from models import StructuredFailure
from planweave import PlanweaveError
from planweave.usage import Usage


class Observation(NamedTuple):
    """What an action showed; ``found`` is False when the text only says why there is nothing."""

    text: str
    values: Mapping[str, Value] = MappingProxyType({})
    found: bool = True


def take_turn(state: WorkingMemory, run: Callable[[Action], Observation | None]) -> WorkingMemory:
    """Run the chosen action; what it finds becomes the next numbered fact, an error a problem.

    An action that was already taken is not run again: the model is pointed at its outcome.
    ``replanning`` says what puts the plan in doubt, for the re-planner; empty after a good result.
    """
    action = state["action"]
    if action is None:
        raise RuntimeError("A tool node runs only after the selector chose its tool.")
    started = perf_counter()
    fact: Fact | None = None
    problem = _repeated(action, state)
    if not problem:
        try:
            observation = run(action)
        except PlanweaveError as error:
            problem = str(error)
        else:
            if observation and observation.found:
                fact = _fact(state, action, observation)
            elif observation:
                problem = observation.text
    seconds = perf_counter() - started
    return {
        "facts": [fact] if fact else [],
        "turns": [_turn(state, action, fact, problem, seconds)],
        "iteration": state["iteration"] + 1,
        "step": action["step"] + (0 if problem else 1),
        "replanning": problem,
        "usage": {action["tool"]: Usage(seconds=seconds).model_dump()},
    }


def _fact(state: WorkingMemory, action: Action, observation: Observation) -> Fact:
    return Fact(
        number=len(state["facts"]) + 1,
        text=observation.text,
        values=dict(observation.values),
        source=action["tool"],
        query=action["input"],
    )


def unreadable_turn(state: WorkingMemory, failure: StructuredFailure | None) -> WorkingMemory:
    """A turn in which the selector's reply could not be read, so that the next prompt differs."""
    action = Action(step=state["step"], thought="", tool="thinking", input="")
    problem = f"The reply could not be read: {failure.message if failure else 'empty'}"
    return {
        "turns": [_turn(state, action, None, problem, 0.0)],
        "iteration": state["iteration"] + 1,
    }


def _turn(
    state: WorkingMemory, action: Action, fact: Fact | None, problem: str, seconds: float
) -> Turn:
    return Turn(
        iteration=state["iteration"] + 1,
        step=action["step"],
        thought=action["thought"],
        tool=action["tool"],
        input=action["input"],
        fact=fact["number"] if fact else None,
        problem=problem,
        seconds=seconds,
    )


def same(text: str) -> str:
    """What two inputs have in common that differ only in spaces or a last semicolon."""
    return " ".join(text.split()).rstrip("; ")


def _repeated(action: Action, state: WorkingMemory) -> str:
    for turn in state["turns"]:
        if (turn["tool"], same(turn["input"])) == (action["tool"], same(action["input"])):
            outcome = f"fact [{turn['fact']}]" if turn["fact"] else turn["problem"]
            return f"This action was already taken and led to: {outcome}"
    return ""
