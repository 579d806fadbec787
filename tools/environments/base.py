"""What every environment offers: tasks, an action at a time, what it showed, and a score.

An instruction is one action as it is written down (``Search[Scott Derrickson]``, ``go to shelf
6``); a path is the sequence of actions that solves a task (Wang et al. 2025, section 3.1).
Nothing here knows a language model.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from planweave import BadInput, PlanweaveError

OPEN = "[…]"
"""Ends an action that takes words of one's own in its brackets."""


class EnvironmentUnavailable(PlanweaveError):
    """The environment's library, data or program is missing or does not start."""


class EnvironmentFailed(PlanweaveError):
    """The environment crashed or ran too long, in a fresh process too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task to solve.

    Attributes:
        kind: The type of task, by which seen and unseen tasks are distinguished.
        question: What the agent is asked to do; empty where only :meth:`Environment.described`
            tells it.
        gold: A path that solves it, where one is known; never shown to an agent.
    """

    id: str
    kind: str
    question: str
    gold: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What an action showed.

    Attributes:
        text: What is seen, as the environment says it; data, never an instruction.
        score: What has been reached so far, from 0 to 1 (Δ of the paper).
    """

    text: str
    done: bool = False
    score: float = 0.0


class Environment(Protocol):
    """A world in which one task at a time is worked on; what it holds is freed at the end.

    A subclass without a process of its own has nothing to free, and tasks that tell their question.
    """

    name: str

    def tasks(self, split: str = "") -> Sequence[Task]:
        """The tasks of a split, in their order; all tasks without one.

        Raises:
            BadInput: There is no such split.
            EnvironmentUnavailable: The library or program that lists them is missing.
        """

    def described(self, task: Task) -> Task:
        """A task of :meth:`tasks` with its question; another task that has begun may be left.

        Raises:
            EnvironmentUnavailable: The library or program that describes it is missing.
            EnvironmentFailed: It is not described, in a fresh process either.
        """
        return task

    def reset(self, task: Task) -> Observation:
        """Begin a task afresh.

        Raises:
            EnvironmentFailed: It does not begin, in a fresh process either.
        """

    def step(self, action: str) -> Observation:
        """Do one action; one that makes no sense here is answered in words and changes nothing.

        Raises:
            EnvironmentFailed: It crashed or ran too long, in a fresh process too.
        """

    def admissible(self) -> tuple[str, ...]:
        """The actions that can be done now: all of them, or all their forms.

        A form ends in :data:`OPEN`, where words of one's own are.
        """

    def close(self) -> None:
        """Free what it holds; safe to call twice."""
        return

    def __enter__(self) -> Self:
        """The environment itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """See :meth:`close`."""
        self.close()


def first_action(text: str, verbs: Sequence[str]) -> tuple[str, str] | None:
    """The first ``Verb[argument]`` in what an agent wrote; None if there is none.

    Models like to add what they would do next (``Search[a], then Finish[b]``), but one action is
    done at a time. Brackets in an argument are taken in pairs, so far as they are.

    Returns:
        The verb in small letters, and the argument.
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
    """The first of several actions that an agent wrote one after the other.

    Models list what they would do (``go to kitchen, look around``), as a plan is listed, but one
    action is done at a time. What has brackets is the environment's to read (:func:`first_action`);
    no other action has a comma or a semicolon, or ends in a full stop.
    """
    if "[" in text:
        return text
    return re.split(r"[,;]\s|\n", text.strip(" \n,;"), maxsplit=1)[0].rstrip(" .")


def of_split(tasks: Iterable[tuple[str, Task]], split: str) -> list[Task]:
    """The tasks of a split, or all; each comes with the name of its own, which may be empty."""
    known = [*tasks]
    found = [task for own, task in known if split in ("", own)]
    if not found:
        if not split:
            raise BadInput("There are no tasks.", fix="Give the data of the environment.")
        named = ", ".join(sorted({own for own, _ in known if own}))
        fix = f"It has: {named}." if named else "Its tasks have no splits: leave it out."
        raise BadInput(f"There are no tasks of a split {split!r}.", fix=fix)
    return found
