"""ScienceWorld: experiments of elementary science in text (Wang et al. 2022).

The simulator is a Java program that grows over long runs. It works in a separate process
(``scienceworld_process``) with a limited heap, and restarts every few tasks. The simulator itself
lists all tasks. A file of tasks can be read without it, and may contain known paths.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel

from planweave.records import read_records
from planweave.tools.environments.base import Task, of_split
from planweave.tools.environments.opening import environment
from planweave.tools.environments.remote import RemoteEnvironment

_HEAP = "1g"
_SIMPLIFICATION = "easy"  # all simplifications
_FIX = "Name a file of task variations: --data gold_trajectories.jsonl.gz"


class Trajectory(BaseModel):
    """A variation of a task with the path that solves it."""

    task: str
    variation: int
    split: str = ""
    simplification: str = "easy"
    task_description: str
    steps: list[tuple[str, str, float]] = []
    final_score: float = 100.0

    @property
    def own(self) -> str:
        """The identifier of the variation."""
        return f"{self.task}/{self.variation}/{self.simplification}"

    def as_task(self) -> Task:
        """The variation as a task; a path that does not solve it is no gold path."""
        path = tuple(action for action, _, _ in self.steps)
        return Task(
            id=self.own,
            kind=self.task,
            question=self.task_description,
            gold=path if path and self.final_score == 100 else None,
        )


class ScienceWorld(RemoteEnvironment):
    """Variations of thirty tasks; the score is the simulator's, from 0 to 1.

    Args:
        file: Records with ``task``, ``variation``, ``simplification``, ``task_description``
            and, if known, ``split`` and the ``steps`` [action, observation, score]. None: all
            variations of the simulator, described one by one, without known paths.
    """

    name = "scienceworld"
    tasks_a_process = 20
    variables = {"JAVA_TOOL_OPTIONS": f"-Xmx{_HEAP} -XX:+ExitOnOutOfMemoryError"}  # noqa: RUF012

    _listed: ClassVar[list[tuple[str, Task]]] = []
    """All tasks of the simulator; listing them takes some seconds."""

    def __init__(self, file: Path | None) -> None:
        super().__init__(
            "planweave.tools.environments.scienceworld_process",
            install="pip install 'planweave[environments]' and a Java runtime (8 or newer)",
        )
        known = read_records(file, Trajectory, fix=_FIX) if file else []
        self._known = [(one.split, one.as_task()) for one in known] if file else None

    def tasks(self, split: str = "") -> Sequence[Task]:
        """See :class:`Environment`; the splits are train, dev and test."""
        if self._known is None and not self._listed:
            ScienceWorld._listed = [
                (split, Task(id=f"{name}/{one}/{_SIMPLIFICATION}", kind=name, question=""))
                for name in self.about("")
                for split, variations in self.about(name).items()
                for one in variations
            ]
        return of_split(self._listed if self._known is None else self._known, split)

    def described(self, task: Task) -> Task:
        """See :class:`Environment`; without a file, the simulator provides a task's question."""
        return task if task.question else replace(task, question=self.about(task.id))

    def begin(self, task: Task) -> dict[str, object]:
        """The task, the variation and the simplifications."""
        name, variation, simplification = task.id.split("/")
        return {"task": name, "variation": int(variation), "simplification": simplification}


@environment("scienceworld")
def connect(data: Path | None) -> ScienceWorld:
    """Open the environment on a file of variations, or on the simulator's own."""
    return ScienceWorld(data)
