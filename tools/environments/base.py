"""The interface of environments: tasks, single actions, observations and a score.

An instruction is one action in writing (``Search[Scott Derrickson]``, ``go to shelf 6``); a path is
the sequence of actions that solves a task (Wang et al. 2025, section 3.1). Nothing here uses a
language model.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from planweave import BadInput, PlanweaveError

OPEN = "[…]"
"""Ends an action whose brackets take free text."""


class EnvironmentUnavailable(PlanweaveError):
    """The environment's library, data or program is missing or does not start."""


class EnvironmentFailed(PlanweaveError):
    """The environment crashed or ran too long, also in a fresh process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task to solve.

    Attributes:
        kind: The type of task; it distinguishes seen from unseen tasks.
        question: The request to the agent; empty if only :meth:`Environment.described`
            provides it.
        gold: A path that solves it, if one is known; never shown to an agent.
    """

    id: str
    kind: str
    question: str
    gold: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """The result of an action.

    Attributes:
        text: The environment's description of what is visible; data, never an instruction.
        score: The progress so far, from 0 to 1 (Δ of the paper).
    """

    text: str
    done: bool = False
    score: float = 0.0


class Environment(Protocol):
    """A world in which an agent works on one task at a time; :meth:`close` frees its resources.

    The defaults suit a subclass without its own process: nothing to free, and tasks with a
    question.
    """

    name: str

    def tasks(self, split: str = "") -> Sequence[Task]:
        """The tasks of a split, in order; without a split all tasks.

        Raises:
            BadInput: There is no such split.
            EnvironmentUnavailable: The library or program that lists them is missing.
        """

    def described(self, task: Task) -> Task:
        """A task of :meth:`tasks` with its question; this may abandon another task in progress.

        Raises:
            EnvironmentUnavailable: The library or program that describes it is missing.
            EnvironmentFailed: It cannot be described, not even in a fresh process.
        """
        return task

    def reset(self, task: Task) -> Observation:
        """Begin a task from its start.

        Raises:
            EnvironmentFailed: It does not begin, not even in a fresh process.
        """

    def step(self, action: str) -> Observation:
        """Do one action; an invalid action gets an explanation and changes nothing.

        Raises:
            EnvironmentFailed: It crashed or ran too long, also in a fresh process.
        """

    def admissible(self) -> tuple[str, ...]:
        """The actions that are possible now: all of them, or all their forms.

        A form ends in :data:`OPEN`, in place of free text.
        """

    def close(self) -> None:
        """Free all resources; safe to call twice."""
        return

    def __enter__(self) -> Self:
        """The environment itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """See :meth:`close`."""
        self.close()


def first_action(text: str, verbs: Sequence[str]) -> tuple[str, str] | None:
    """The first ``Verb[argument]`` in an agent's text; None if there is none.

    Models like to add their next actions (``Search[a], then Finish[b]``), but only one action is
    done at a time. Brackets in an argument count in pairs, as far as they match.

    Returns:
        The verb in lower case, and the argument.
    """
    begin = re.search(rf"\b({'|'.join(verbs)})\s*\[", text, re.IGNORECASE)
    if begin is None:
        return None
    rest, depth, end = text[begin.end() :], 1, text[begin.end() :].rfind("]")
    for place, letter in enumerate(rest):
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            end = place
            break
    return (begin[1].lower(), rest[:end].strip()) if end >= 0 else None


def one_action(text: str) -> str:
    """The first of several actions in an agent's text.

    Models list their actions like a plan (``go to kitchen, look around``), but only one action is
    done at a time. The environment itself reads actions with brackets (:func:`first_action`); no
    other action contains a comma or a semicolon, or ends in a full stop.
    """
    if "[" in text:
        return text
    return re.split(r"[,;]\s|\n", text.strip(" \n,;"), maxsplit=1)[0].rstrip(" .")


def of_split(tasks: Iterable[tuple[str, Task]], split: str) -> list[Task]:
    """The tasks of a split, or all; each task comes with its split, which may be empty."""
    known = [*tasks]
    found = [task for own, task in known if split in ("", own)]
    if not found:
        if not split:
            raise BadInput("There are no tasks.", fix="Give the data of the environment.")
        named = ", ".join(sorted({own for own, _ in known if own}))
        fix = f"It has: {named}." if named else "Its tasks have no splits: leave it out."
        raise BadInput(f"There are no tasks of a split {split!r}.", fix=fix)
    return found
