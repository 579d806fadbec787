"""The process that runs ScienceWorld's simulator."""

from collections.abc import Mapping, Sequence
from typing import Any

from planweave.tools.environments.base import Observation
from planweave.tools.environments.remote import RemoteWorld, serve

_NEVER = 1_000_000  # steps: the caller limits the length of a task


class Simulator(RemoteWorld):
    """One variation of a task at a time; it lists its tasks itself."""

    def __init__(self) -> None:
        import shutil

        if shutil.which("java") is None:
            raise OSError("there is no program java")
        from scienceworld import ScienceWorldEnv

        self._env: Any = ScienceWorldEnv("", envStepLimit=_NEVER)

    def begin(self, task: Mapping[str, Any]) -> Observation:
        """See :class:`RemoteWorld`.

        The first look takes no time in the world beyond that of ``env.reset``: known paths begin
        before it.
        """
        self._env.load(task["task"], task["variation"], task["simplification"])
        self._env.server.reset()
        return Observation(str(self._env.server.freeActionLook()))

    def act(self, action: str) -> Observation:
        """See :class:`RemoteWorld`.

        ``env.step`` also looks around and lists the inventory and every valid action, at four times
        the cost. The server itself only answers with the observation.
        """
        server = self._env.server
        text = str(server.step(action))
        return Observation(text, done=bool(server.getCompleted()), score=float(server.getScore()))

    def admissible(self) -> Sequence[str]:
        """See :class:`RemoteWorld`."""
        return list(self._env.server.getValidActionObjectCombinations())

    def about(self, what: str) -> object:
        """The names of all tasks; of a name its variations by split; of a task's id its words."""
        if not what:
            return list(self._env.get_task_names())
        name, _, variation = what.partition("/")
        number, _, simplification = variation.partition("/")
        self._env.load(name, int(number or 0), simplification)
        if variation:
            return str(self._env.get_task_description())
        splits = {
            "train": self._env.get_variations_train,
            "dev": self._env.get_variations_dev,
            "test": self._env.get_variations_test,
        }
        return {split: [int(one) for one in listed()] for split, listed in splits.items()}


def main() -> None:
    """Serve variations until the parent ends."""
    serve(Simulator)
