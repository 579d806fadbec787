"""Players that follow a path without a language model, to measure the worth of retrieval.

Each environment has its own player. Players fill slots from the question and from observations, by
a few simple rules, and leave a path only if its next action is impossible.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from planweave import BadInput
from planweave.learning.slots import ASKED, FOUND, QuestionSlots
from planweave.tools.environments import Observation

Possible: TypeAlias = Callable[[], tuple[str, ...]]
"""Returns the possible actions; called only by players that need them."""

_SLOT = re.compile(r"\{\w+\}")
_NUMBER = re.compile(r" \d+\b")
_ACTION = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_SIMILAR = re.compile(r"Similar: \[(['\"])(.+?)\1")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_YEAR = re.compile(r"\b(1\d{3}|20\d\d)\b")
_COUNT = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")
_YES_OR_NO = re.compile(
    r"(is|are|was|were|do|does|did|has|have|had|can|could)\b(?!.*\bor\b)", re.IGNORECASE
)
_CHOICE = re.compile(r"\bor\b|\b(older|younger|first|more|longer|larger|earlier)\b", re.IGNORECASE)
_WHEN = re.compile(r"\b(when|what year|which year|in what year|what date)\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow (many|much|old|long|far|tall)\b", re.IGNORECASE)


class Player(Protocol):
    """Plays one task."""

    def act(self, seen: Observation, possible: Possible) -> str | None:
        """The next action; None if the player knows none."""


class Lead(NamedTuple):
    """What a player follows."""

    question: str
    path: Sequence[str]  # instructions with the question's names filled in
    names: Sequence[str]  # what the question names


class Reader:
    """HotpotQA: searches for what the path names, then answers from the observations."""

    def __init__(self, question: str, path: Sequence[str], names: Sequence[str]) -> None:
        self._question, self._left, self._names = question, [*path], names
        self._seen: list[str] = []
        self._searched: list[str] = []

    def act(self, seen: Observation, possible: Possible) -> str | None:
        """See :class:`Player`."""
        if similar := _SIMILAR.search(seen.text):
            return self._search(similar[2])
        self._seen.append(seen.text)
        while self._left:
            parts = _ACTION.fullmatch(self._left.pop(0))
            if parts is None or parts[1].lower() == "finish":
                continue
            words = self._fill_slots(parts[2])
            if words and words not in self._searched:
                return self._search(words) if parts[1].lower() != "lookup" else f"Lookup[{words}]"
        return f"Finish[{self._answer()}]"

    def _search(self, words: str) -> str:
        self._searched.append(words)
        return f"Search[{words}]"

    def _fill_slots(self, words: str) -> str:
        """Fill the slots of an argument; empty if a slot has no value."""
        if FOUND in words:
            new = self._new_names()
            words = words.replace(FOUND, new[0]) if new else ""
        words = words.replace(ASKED, "" if words != ASKED else self._question)
        return "" if _SLOT.search(words) else " ".join(words.split())

    def _new_names(self) -> list[str]:
        """Names in the last observation that are neither in the question nor searched yet."""
        known = " ".join([self._question, *self._searched]).lower()
        sentences = _SENTENCE_END.split(self._seen[-1] if self._seen else "")
        found = [name for sentence in sentences for name in QuestionSlots().names(sentence)]
        return [n for n in dict.fromkeys(found) if n[0].isalpha() and n.lower() not in known]

    def _answer(self) -> str:
        """Pick an answer from the observations by rules on the question's words."""
        text = " ".join(self._seen)
        if _YES_OR_NO.match(self._question):
            return "yes"
        if _WHEN.search(self._question) and (years := _YEAR.findall(text)):
            return str(years[-1])
        if _HOW_MANY.search(self._question) and (counts := _COUNT.findall(text)):
            return str(counts[-1])
        if _CHOICE.search(self._question) and self._names:
            return self._names[0]
        new = self._new_names()
        return new[0] if new else (self._names[0] if self._names else "")


class Walker:
    """ALFWorld: follows the path with any numbered things of the named kinds.

    If a thing is not at the place that the path names, the player searches the other places, those
    of the same kind first, and opens what is closed.
    """

    def __init__(self, path: Sequence[str]) -> None:
        self._left = [_without_numbers(text) for text in path]
        self._visited: set[str] = set()
        self._goal = ""

    def act(self, seen: Observation, possible: Possible) -> str | None:
        """See :class:`Player`."""
        actions = possible()
        while self._left:
            wanted = self._left[0]
            if wanted.startswith("go to "):
                self._left.pop(0)
                self._goal = wanted
                if walk := self._walk(actions, wanted):
                    return walk
                continue
            if fitting := _find_action(wanted, actions):
                self._left.pop(0)
                self._visited.clear()
                return fitting
            return self._search_places(actions)
        return None

    def _search_places(self, actions: Sequence[str]) -> str | None:
        """Open what is closed here, or else go to an unvisited place, the same kind first."""
        closed = [a for a in actions if a.startswith("open ") and a not in self._visited]
        if closed:
            self._visited.add(closed[0])
            return closed[0]
        return self._walk(actions, self._goal) or self._walk(actions, "go to")

    def _walk(self, actions: Sequence[str], wanted: str) -> str | None:
        for action in actions:
            if _without_numbers(action).startswith(wanted) and action not in self._visited:
                self._visited.add(action)
                return action
        return None


PLAYERS: Mapping[str, Callable[[Lead], Player]] = {
    "hotpotqa": lambda lead: Reader(lead.question, lead.path, lead.names),
    "alfworld": lambda lead: Walker(lead.path),
}
"""Makes a player, by environment."""


def player_factory(environment: str) -> Callable[[Lead], Player]:
    """The function that makes a player for an environment."""
    if environment not in PLAYERS:
        raise BadInput(
            f"No policy follows paths in the environment {environment!r}.",
            fix=f"There is one for: {', '.join(PLAYERS)}.",
        )
    return PLAYERS[environment]


def _without_numbers(action: str) -> str:
    return _NUMBER.sub("", action)


def _find_action(wanted: str, actions: Sequence[str]) -> str | None:
    """A possible action that equals the wanted one, or else does the same at another place."""
    exact = [action for action in actions if _without_numbers(action) == wanted]
    start = wanted.partition(" from ")[0] if wanted.startswith("take ") else wanted
    loose = [action for action in actions if _without_numbers(action).startswith(f"{start} from ")]
    return next(iter([*exact, *loose]), None)
