"""The actions of a run as a path of instructions for later runs."""

from collections.abc import Iterable

from planweave import BadInput
from planweave.learning.paths import IN_CONTEXT, TaskPath, one_line
from planweave.memory import Turn


def path_of(
    question: str,
    turns: Iterable[Turn],
    *,
    task: str,
    reward: float,
    thread: str,
    in_context: bool = False,
) -> TaskPath:
    """Make a path with a reward from 0 to 1 from the actions that found facts.

    ``in_context``: the question was asked with rules, or follows another one.
    """
    instructions = tuple(
        _instruction(turn)
        for turn in turns
        if turn["facts"] and not turn["problem"] and turn["input"].strip()
    )
    if not instructions:
        raise BadInput(
            f"The thread {thread!r} has no answer from an action.",
            fix="Confirm a thread that has an answer.",
        )
    return TaskPath(task, question, instructions, reward, origin_of(thread, in_context=in_context))


def origin_of(thread: str, *, in_context: bool) -> str:
    """The origin of a path of a thread."""
    return f"thread {thread}{IN_CONTEXT if in_context else ''}"


def _instruction(turn: Turn) -> str:
    """A turn as an instruction; the action of an environment is one already."""
    if turn["tool"] == "environment":
        return one_line(turn["input"])
    return one_line(f"{turn['tool']}[{turn['input'].strip()}]")
