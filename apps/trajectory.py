"""The actions of a run as a path of instructions for later runs."""

from collections.abc import Iterable

from planweave import BadInput
from planweave.learning.paths import TaskPath
from planweave.learning.queries.literals import add_slots
from planweave.memory import Turn


def path_of(
    question: str, turns: Iterable[Turn], *, task: str, reward: float, thread: str
) -> TaskPath:
    """Make a path with a reward from 0 to 1 from the actions that found facts."""
    instructions = tuple(
        _instruction(turn) for turn in turns if turn["facts"] and not turn["problem"]
    )
    if not instructions:
        raise BadInput(
            f"The thread {thread!r} has no answer from an action.",
            fix="Confirm a thread that has an answer.",
        )
    return add_slots(TaskPath(task, question, instructions, reward, origin=f"thread {thread}"))


def _instruction(turn: Turn) -> str:
    """A turn as an instruction; the action of an environment is one already."""
    given = " ".join(turn["input"].split())
    return given if turn["tool"] == "environment" else f"{turn['tool']}[{given}]"
