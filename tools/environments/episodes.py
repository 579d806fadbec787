"""Episodes by what was done in them, so that a run can stop, be forked and go on anywhere.

A graph keeps no open environment: its state names the task and the actions done. The environment
that stands just there is looked for among the open ones; where none does, one begins the task
again and does the actions again.
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
    """How often processes of environments ended before they had answered."""

    crashes: int = 0
    timeouts: int = 0


_counted: ContextVar[Ends | None] = ContextVar("ends of environments", default=None)


def counting() -> AbstractContextManager[Ends]:
    """Count the ends while something is done, also by tasks and threads that it begins."""
    return held(_counted, Ends())


@dataclass(eq=False)
class _Open:
    """An open environment, and where it is."""

    environment: Environment
    place: tuple[str, str]
    tasks: dict[str, Task]
    episode: Episode | None = None
    actions: tuple[str, ...] = ()
    last: Observation = field(default_factory=lambda: Observation(""))

    def ends(self) -> Ends:
        """Those of its environment until now; none where it has no process of its own."""
        world = self.environment
        return Ends(getattr(world, "crashes", 0), getattr(world, "timeouts", 0))

    def stands_before(self, episode: Episode, actions: tuple[str, ...]) -> bool:
        """Whether only the last of the actions are left to do."""
        return self.episode == episode and self.actions == actions[: len(self.actions)]

    def go_to(self, episode: Episode, actions: tuple[str, ...]) -> None:
        """Stand where the episode's actions lead."""
        if not self.stands_before(episode, actions):
            self.episode, self.actions = episode, ()
            self.last = self.environment.reset(self.tasks[episode.task])
        for action in actions[len(self.actions) :]:
            self.last = self.environment.step(action)
            self.actions = (*self.actions, action)

    def task(self, own: str) -> Task:
        """A task with its question; where that has to be asked for, the episode is left."""
        if not self.tasks[own].question:
            self.episode = None
            self.tasks[own] = self.environment.described(self.tasks[own])
        return self.tasks[own]


_idle: list[_Open] = []  # those used longest ago first
_lock = Lock()


def find_task(episode: Episode) -> Task:
    """The task of an episode.

    Raises:
        BadInput: There is no such environment or task, or its data cannot be read.
        EnvironmentUnavailable: The environment's library or program is missing.
    """
    with _borrowed(episode, ()) as opened:
        return opened.task(episode.task)


def observe(episode: Episode, actions: Sequence[str]) -> Observation:
    """What the last of the actions showed; without any, the beginning.

    Raises:
        EnvironmentFailed: The environment crashed or ran too long, in a fresh process too.
    """
    with _borrowed(episode, tuple(actions)) as opened:
        opened.go_to(episode, tuple(actions))
        return opened.last


def admissible(episode: Episode, actions: Sequence[str]) -> tuple[str, ...]:
    """What can be done after the actions; see :meth:`Environment.admissible`.

    Raises:
        EnvironmentFailed: As in :func:`observe`.
    """
    with _borrowed(episode, tuple(actions)) as opened:
        opened.go_to(episode, tuple(actions))
        return opened.environment.admissible()


def leave(episode: Episode) -> None:
    """Say that nothing more is done in an episode, so that its environment serves another."""
    with _lock:
        for opened in _idle:
            if opened.episode == episode:
                opened.episode = None


def close_all() -> None:
    """Close every environment that is open and not at work."""
    with _lock:
        idle, _idle[:] = [*_idle], []
    for opened in idle:
        opened.environment.close()


@contextmanager
def _borrowed(episode: Episode, actions: tuple[str, ...]) -> Iterator[_Open]:
    """An environment for this call alone; one that fails is closed."""
    idle = _taken(episode, actions)
    opened, before = (idle, idle.ends()) if idle else (_opened(episode), Ends())
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


def _taken(episode: Episode, actions: tuple[str, ...]) -> _Open | None:
    """The idle environment that fits best: it is there, is free, or was left longest ago."""
    with _lock:
        mine = [one for one in _idle if one.place == episode[:2]]
        standing = [one for one in mine if one.stands_before(episode, actions)]
        free = [one for one in mine if one.episode is None]
        chosen = [*standing, *free, *(mine if len(mine) >= _KEEP_OPEN else [])]
        if not chosen:
            return None
        _idle.remove(chosen[0])
        return chosen[0]


def _opened(episode: Episode) -> _Open:
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
