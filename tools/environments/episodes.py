"""Finds an episode again by its actions, so that a run can stop, fork and continue anywhere.

A graph holds no open environment: its state names the task and the actions so far. An open
environment in exactly that state is used if there is one. Otherwise an environment begins the task
again and repeats the actions.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from planweave import BadInput
from planweave.texts import listed
from planweave.tools.environments.base import Environment, Observation, Task
from planweave.tools.environments.opening import open_environment
from planweave.usage import held

_KEEP_OPEN = 4


class Episode(NamedTuple):
    """A task of an environment."""

    environment: str
    data: str
    task: str


@dataclass
class Ends:
    """How often processes of environments ended before they answered."""

    crashes: int = 0
    timeouts: int = 0


_counted: ContextVar[Ends | None] = ContextVar("ends of environments", default=None)


def counting() -> AbstractContextManager[Ends]:
    """Count the ends inside the block, including those in tasks and threads that it starts."""
    return held(_counted, Ends())


@dataclass(eq=False)
class _Open:
    """An open environment and its position: the episode and the actions so far."""

    environment: Environment
    place: tuple[str, str]
    tasks: dict[str, Task]
    episode: Episode | None = None
    actions: tuple[str, ...] = ()
    last: Observation = field(default_factory=lambda: Observation(""))

    def ends(self) -> Ends:
        """The ends of its environment so far; none if it has no separate process."""
        world = self.environment
        return Ends(getattr(world, "crashes", 0), getattr(world, "timeouts", 0))

    def stands_before(self, episode: Episode, actions: tuple[str, ...]) -> bool:
        """Whether only the last action is left to do."""
        return self.episode == episode and self.actions == actions[: len(self.actions)]

    def go_to(self, episode: Episode, actions: tuple[str, ...]) -> None:
        """Do the actions of the episode that are left."""
        if not self.stands_before(episode, actions):
            self.episode, self.actions = episode, ()
            self.last = self.environment.reset(self.tasks[episode.task])
        for action in actions[len(self.actions) :]:
            self.last = self.environment.step(action)
            self.actions = (*self.actions, action)

    def task(self, own: str) -> Task:
        """A task with its question; asking the environment for the question leaves the episode."""
        if not self.tasks[own].question:
            self.episode = None
            self.tasks[own] = self.environment.described(self.tasks[own])
        return self.tasks[own]


_idle: list[_Open] = []  # least recently used first
_lock = Lock()


def find_task(episode: Episode) -> Task:
    """The task of an episode.

    Raises:
        BadInput: There is no such environment or task, or its data cannot be read.
        EnvironmentUnavailable: The environment's library or program is missing.
    """
    with _borrow(episode, ()) as opened:
        return opened.task(episode.task)


def observe(episode: Episode, actions: Sequence[str]) -> Observation:
    """The observation after the last action; without actions, the beginning.

    Raises:
        EnvironmentFailed: The environment crashed or ran too long, also in a fresh process.
    """
    with _borrow(episode, tuple(actions)) as opened:
        opened.go_to(episode, tuple(actions))
        return opened.last


def admissible(episode: Episode, actions: Sequence[str]) -> tuple[str, ...]:
    """The possible actions after these; see :meth:`Environment.admissible`.

    Raises:
        EnvironmentFailed: As in :func:`observe`.
    """
    with _borrow(episode, tuple(actions)) as opened:
        opened.go_to(episode, tuple(actions))
        return opened.environment.admissible()


def leave(episode: Episode) -> None:
    """End an episode, so that its environment can serve another."""
    with _lock:
        for opened in _idle:
            if opened.episode == episode:
                opened.episode = None


def close_all() -> None:
    """Close every open environment that is idle."""
    with _lock:
        idle, _idle[:] = [*_idle], []
    for opened in idle:
        opened.environment.close()


@contextmanager
def _borrow(episode: Episode, actions: tuple[str, ...]) -> Iterator[_Open]:
    """Borrow an environment for this call alone; one that fails is closed."""
    idle = _take_idle(episode, actions)
    opened, before = (idle, idle.ends()) if idle else (_open_new(episode), Ends())
    if episode.task not in opened.tasks:
        _put_back(opened)
        some = listed(opened.tasks, 3)
        raise BadInput(
            f"The environment {episode.environment} has no task {episode.task!r}.",
            fix=f"Its tasks are named like these: {some}.",
        )
    try:
        yield opened
    except BaseException:
        opened.environment.close()
        raise
    finally:
        if counted := _counted.get():
            counted.crashes += opened.ends().crashes - before.crashes
            counted.timeouts += opened.ends().timeouts - before.timeouts
    _put_back(opened)


def _take_idle(episode: Episode, actions: tuple[str, ...]) -> _Open | None:
    """Take the idle environment that fits best: in this state, free, or least recently used."""
    with _lock:
        mine = [one for one in _idle if one.place == episode[:2]]
        standing = [one for one in mine if one.stands_before(episode, actions)]
        free = [one for one in mine if one.episode is None]
        chosen = [*standing, *free, *(mine if len(mine) >= _KEEP_OPEN else [])]
        if not chosen:
            return None
        _idle.remove(chosen[0])
        return chosen[0]


def _open_new(episode: Episode) -> _Open:
    data = Path(episode.data) if episode.data else None
    environment = open_environment(episode.environment, data)
    return _Open(environment, episode[:2], {task.id: task for task in environment.tasks()})


def _put_back(opened: _Open) -> None:
    with _lock:
        _idle.append(opened)
        too_many = _idle[:-_KEEP_OPEN]
        _idle[:] = _idle[-_KEEP_OPEN:]
    for one in too_many:
        one.environment.close()
