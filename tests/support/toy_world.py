"""A world in a process of its own that counts, crashes and hangs as it is told."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planweave.tools.environments import Observation, Task
from planweave.tools.environments.remote import RemoteEnvironment, RemoteWorld, serve


class Toy(RemoteWorld):
    """Counts; ``crash`` and ``hang`` do so the first time, ``always`` every time."""

    def __init__(self) -> None:
        if os.environ.get("TOY_MISSING"):
            raise ImportError("there is no toy")
        self._count = 0
        self._notes = Path()

    def begin(self, task: Mapping[str, Any]) -> Observation:
        self._count, self._notes = 0, Path(task["notes"])
        return Observation(f"begun in {os.getpid()}")

    def act(self, action: str) -> Observation:
        note = self._notes / action
        if action == "always" or (action == "crash" and not note.exists()):
            note.touch()
            os._exit(1)
        if action == "hang" and not note.exists():
            note.touch()
            time.sleep(60)
        print("a library that prints")  # noqa: T201
        self._count += 1
        return Observation(str(self._count), done=self._count >= 3, score=self._count * 0.5)

    def admissible(self) -> Sequence[str]:
        return ["count", str(self._count)]


class ToyShop(RemoteEnvironment):
    """The toy world in its process.

    Args:
        notes: Folder for what it has done by now.
    """

    name = "toy"
    step_seconds = 3.0

    def __init__(self, notes: Path) -> None:
        super().__init__("toy_world", install="pip install toy")
        self._notes = notes

    def tasks(self, split: str = "") -> Sequence[Task]:
        return [Task(id="0", kind="count", question="Count to three.")]

    def begin(self, task: Task) -> dict[str, object]:
        return {"notes": str(self._notes)}


def main() -> None:
    """Be the process."""
    serve(Toy)
