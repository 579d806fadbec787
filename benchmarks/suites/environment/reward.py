"""What a path scores in the environment itself: the reward R of InstructRAG (section 4.3).

The paper's language model is replaced by the player without one, so that an episode costs what its
steps cost. Each is played once and kept.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from planweave.benchmarks.core.lines import LineFile
from planweave.benchmarks.suites.environment.play import lead, play
from planweave.benchmarks.suites.environment.players import player_of
from planweave.learning.guide import Guide
from planweave.learning.paths import TaskPath
from planweave.tools.environments import Environment, Task

SPLITS: Mapping[str, str] = {"alfworld": "train"}
"""The part of an environment's tasks that may be trained on; of the others all that are given."""


class PlayedPath(BaseModel):
    """How far a player came on a task by a path."""

    environment: str
    task: str
    path: tuple[str, ...]  # as it was followed, with the names of the question in its slots
    most: int  # actions that it was given
    score: float  # from 0 to 1; where the environment failed, what had been reached by then
    steps: int
    error: str = ""


class EnvironmentReward:
    """The environment's score of the player that follows a path on the task of a question.

    Of several tasks with one question the first is played. ``kept`` is a file of episodes of these
    tasks and known paths; those that it holds are not played again. ``progress`` is called with how
    many episodes were played, after each.
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
        self._player = player_of(environment.name)
        self._file = LineFile(kept, TypeAdapter(PlayedPath), notify)
        self._episodes = {_key(one): one for one in self._file.lines}
        self._scores: dict[tuple[str, tuple[str, ...]], float] = {}
        self.played, self.known = 0, len(self._episodes)

    def __call__(self, path: TaskPath, instructions: Sequence[str]) -> float:
        """What instructions with slots score on the question of a path."""
        asked = (path.question, tuple(instructions))
        if asked not in self._scores:
            self._scores[asked] = self._score(*asked)
        return self._scores[asked]

    @property
    def given_up(self) -> list[str]:
        """Why episodes were given up, those that were known among them."""
        return [one.error for one in self._episodes.values() if one.error]

    def close(self) -> None:
        """Close the file of episodes."""
        self._file.close()

    def _score(self, question: str, instructions: Sequence[str]) -> float:
        task = self.tasks[question]
        followed = lead(self._guide, question, instructions)
        player = self._player(followed)
        about = PlayedPath(
            environment=self._environment.name,
            task=task.id,
            path=tuple(followed.path),
            most=self._most,
            score=0,
            steps=0,
        )
        if (key := _key(about)) not in self._episodes:
            (done,) = play(self._environment, [task], lambda _: player, self._most)
            found = {"score": done.score, "steps": done.steps, "error": done.error}
            self._episodes[key] = about.model_copy(update=found)
            self._file.append(self._episodes[key])
            self.played += 1
            self._progress(self.played)
        return self._episodes[key].score


def _key(episode: PlayedPath) -> tuple[object, ...]:
    return episode.environment, episode.task, episode.path, episode.most
