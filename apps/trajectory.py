"""What a run did, as a path of instructions for later runs."""

from collections.abc import Iterable

from planweave import BadInput
from planweave.learning.paths import TaskPath
from planweave.learning.queries.literals import add_slots
from planweave.memory import Turn


def path_of(
    question: str, turns: Iterable[Turn], *, task: str, reward: float, thread: str
) -> TaskPath:
    """The actions that found something, as a path with a reward between 0 and 1."""
    instructions = tuple(
        _instruction(turn) for turn in turns if turn["facts"] and not turn["problem"]
    )
    if not instructions:
        raise BadInput(
            f"The thread {thread!r} has no answer that rests on an action.",
            fix="Confirm a thread that has been answered.",
        )
    return add_slots(TaskPath(task, question, instructions, reward, origin=f"thread {thread}"))


def _instruction(turn: Turn) -> str:
    """The action as an instruction; that of an environment is one already."""
    given = " ".join(turn["input"].split())
    return given if turn["tool"] == "environment" else f"{turn['tool']}[{given}]"
