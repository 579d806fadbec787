"""The process that plays ALFWorld's games."""

from collections.abc import Mapping, Sequence
from typing import Any

from tools.environments.remote import Seen, serve

_BANNER = "-= Welcome to TextWorld, ALFRED! =-"


class Games:
    """One game at a time."""

    def __init__(self) -> None:
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

        self._textworld, self._demangler = textworld, AlfredDemangler
        self._env: Any = None
        self._state: Any = None

    def begin(self, task: Mapping[str, Any]) -> Seen:
        """See :class:`tools.environments.remote.World`."""
        if self._env is not None:
            self._env.close()
        infos = self._textworld.EnvInfos(won=True, admissible_commands=True)
        self._env = self._textworld.start(task["game"], infos, wrappers=[self._demangler()])
        self._state = self._env.reset()
        return self._seen()

    def act(self, action: str) -> Seen:
        """See :class:`tools.environments.remote.World`."""
        self._state, _, _ = self._env.step(action)
        return self._seen()

    def admissible(self) -> Sequence[str]:
        """See :class:`tools.environments.remote.World`."""
        commands: Sequence[str] = self._state.admissible_commands
        return [command for command in commands if command != "help"]  # what it lists is told

    def _seen(self) -> Seen:
        won = bool(self._state["won"])
        text = self._state.feedback.replace(_BANNER, "").strip()
        return Seen(text=text, done=won, score=float(won))


def main() -> None:
    """Serve games until the parent is gone."""
    serve(Games)
