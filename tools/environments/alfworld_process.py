"""The process that plays ALFWorld's games."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any

from planweave.tools.environments.base import Observation
from planweave.tools.environments.remote import RemoteWorld, serve

_TRANSLATED = 16  # problems of the last eight games
_PHRASES = 4096
_BANNER = "-= Welcome to TextWorld, ALFRED! =-"


def _cache_results() -> None:
    """Let TextWorld cache what it computes repeatedly; its texts stay the same.

    At the start of a game it translates the problem four times, in two ways, which takes seconds.
    For each action it parses the same few phrases of its grammar a hundred times, which takes half
    of the time.
    """
    import fast_downward
    from textworld.envs.pddl import textgen

    fast_downward.pddl2sas = lru_cache(maxsize=_TRANSLATED)(fast_downward.pddl2sas)
    if hasattr(textgen, "_parse_and_convert"):  # a private name; another release may not have it
        parse = lru_cache(maxsize=_PHRASES)(textgen._parse_and_convert)
        textgen._parse_and_convert = lambda *words, **how: deepcopy(parse(*words, **how))


class Games(RemoteWorld):
    """One game at a time."""

    def __init__(self) -> None:
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

        self._textworld, self._demangler = textworld, AlfredDemangler
        _cache_results()
        self._env: Any = None
        self._state: Any = None

    def begin(self, task: Mapping[str, Any]) -> Observation:
        """See :class:`RemoteWorld`."""
        if self._env is not None:
            self._env.close()
        infos = self._textworld.EnvInfos(won=True, admissible_commands=True)
        self._env = self._textworld.start(task["game"], infos, wrappers=[self._demangler()])
        self._state = self._env.reset()
        return self._seen()

    def act(self, action: str) -> Observation:
        """See :class:`RemoteWorld`."""
        self._state, _, _ = self._env.step(action)
        return self._seen()

    def admissible(self) -> Sequence[str]:
        """See :class:`RemoteWorld`."""
        commands: Sequence[str] = self._state.admissible_commands
        return [command for command in commands if command != "help"]  # it only lists the others

    def _seen(self) -> Observation:
        won = bool(self._state["won"])
        text = self._state.feedback.replace(_BANNER, "").strip()
        return Observation(text, done=won, score=float(won))


def main() -> None:
    """Serve games until the parent ends."""
    serve(Games)
