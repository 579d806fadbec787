"""The score of a path in the environment: the reward R of InstructRAG (section 4.3).

A player without a language model replaces the paper's, so that only the environment's steps take
time. Each episode is played once and stored.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from planweave.benchmarks.core.lines import LineFile
from planweave.benchmarks.suites.environment.play import make_lead, play
from planweave.benchmarks.suites.environment.players import player_factory
from planweave.learning.guide import Guide
from planweave.learning.paths import TaskPath
from planweave.tools.environments import Environment, Task

SPLITS: Mapping[str, str] = {"alfworld": "train"}
"""The training split of an environment; other environments use all given tasks."""


class PlayedPath(BaseModel):
    """The result of a player that followed a path on a task."""

    environment: str
    task: str
    path: tuple[str, ...]  # with the names of the question in its slots
    most: int  # allowed number of actions
    score: float  # from 0 to 1; if the environment failed, the score until then
    steps: int
    error: str = ""


class EnvironmentReward:
    """The environment's score of a player that follows a path on the task of a question.

    If several tasks have one question, the first is played. ``kept`` is a file of episodes, which
    are not played again. After each new episode, ``progress`` receives the number of these.
    """

    def __init__(
        self,
        environment: Environment,
        tasks: Iterable[Task],
        guide: Guide,
        most: int,
        kept: Path,
        notify: Callable[[str], None],
        progress: Callable[[int], None],
    ) -> None:
        self.tasks: dict[str, Task] = {}
        for task in tasks:
            self.tasks.setdefault(task.question, task)
        self._environment, self._guide, self._progress = environment, guide, progress
        self._most = most
        self._player = player_factory(environment.name)
        self._file = LineFile(kept, TypeAdapter(PlayedPath), notify)
        self._episodes = {_episode_key(one): one for one in self._file.lines}
        self._scores: dict[tuple[str, tuple[str, ...]], float] = {}
        self.played, self.known = 0, len(self._episodes)

    def __call__(self, path: TaskPath, instructions: Sequence[str]) -> float:
        """Score of instructions with slots on the question of a path."""
        asked = (path.question, tuple(instructions))
        if asked not in self._scores:
            self._scores[asked] = self._score(*asked)
        return self._scores[asked]

    @property
    def given_up(self) -> list[str]:
        """The errors of all given-up episodes, including stored ones."""
        return [one.error for one in self._episodes.values() if one.error]

    def close(self) -> None:
        """Close the file of episodes."""
        self._file.close()

    def _score(self, question: str, instructions: Sequence[str]) -> float:
        task = self.tasks[question]
        followed = make_lead(self._guide, question, instructions)
        player = self._player(followed)
        about = PlayedPath(
            environment=self._environment.name,
            task=task.id,
            path=tuple(followed.path),
            most=self._most,
            score=0,
            steps=0,
        )
        if (key := _episode_key(about)) not in self._episodes:
            (done,) = play(self._environment, [task], lambda _: player, self._most)
            found = {"score": done.score, "steps": done.steps, "error": done.error}
            self._episodes[key] = about.model_copy(update=found)
            self._file.append(self._episodes[key])
            self.played += 1
            self._progress(self.played)
        return self._episodes[key].score


def _episode_key(episode: PlayedPath) -> tuple[object, ...]:
    return episode.environment, episode.task, episode.path, episode.most
