"""Following a path without any language model: what retrieval alone is worth.

Slots are filled from the question and from what was seen. One player for each kind of environment:
they read with rules of a few lines, and depart from a path only where its next action is not
possible.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from planweave import BadInput
from planweave.learning.slots import ASKED, FOUND, QuestionSlots
from planweave.tools.environments import Observation

Possible: TypeAlias = Callable[[], tuple[str, ...]]
"""The actions that can be done now; asked for only where a player looks at them."""

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
        """The next action; None when it knows of none."""


class Lead(NamedTuple):
    """What a player follows."""

    question: str
    path: Sequence[str]  # instructions in which the question's own names are filled in already
    names: Sequence[str]  # what the question names


class Reader:
    """HotpotQA: searches for what the path names, then answers with what was seen."""

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
            words = self._filled(parts[2])
            if words and words not in self._searched:
                return self._search(words) if parts[1].lower() != "lookup" else f"Lookup[{words}]"
        return f"Finish[{self._answer()}]"

    def _search(self, words: str) -> str:
        self._searched.append(words)
        return f"Search[{words}]"

    def _filled(self, words: str) -> str:
        """The argument of an instruction; empty if a slot has nothing to hold."""
        if FOUND in words:
            new = self._new_names()
            words = words.replace(FOUND, new[0]) if new else ""
        words = words.replace(ASKED, "" if words != ASKED else self._question)
        return "" if _SLOT.search(words) else " ".join(words.split())

    def _new_names(self) -> list[str]:
        """Names that were seen last and are neither asked about nor looked at."""
        known = " ".join([self._question, *self._searched]).lower()
        sentences = _SENTENCE_END.split(self._seen[-1] if self._seen else "")
        found = [name for sentence in sentences for name in QuestionSlots().names(sentence)]
        return [n for n in dict.fromkeys(found) if n[0].isalpha() and n.lower() not in known]

    def _answer(self) -> str:
        """What a rule of the question's first words picks out of what was seen."""
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
    """ALFWorld: follows the path, with whichever numbered things are there.

    Where a thing is not at the place that the path names, the other places are searched, those of
    the same kind first; what is closed is opened.
    """

    def __init__(self, path: Sequence[str]) -> None:
        self._left = [_plain(text) for text in path]
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
            if fitting := _fitting(wanted, actions):
                self._left.pop(0)
                self._visited.clear()
                return fitting
            return self._look_for(actions)
        return None

    def _look_for(self, actions: Sequence[str]) -> str | None:
        """Open what is closed here, else go to a place where nobody was, the nearest in kind."""
        closed = [a for a in actions if a.startswith("open ") and a not in self._visited]
        if closed:
            self._visited.add(closed[0])
            return closed[0]
        return self._walk(actions, self._goal) or self._walk(actions, "go to")

    def _walk(self, actions: Sequence[str], wanted: str) -> str | None:
        for action in actions:
            if _plain(action).startswith(wanted) and action not in self._visited:
                self._visited.add(action)
                return action
        return None


PLAYERS: Mapping[str, Callable[[Lead], Player]] = {
    "hotpotqa": lambda lead: Reader(lead.question, lead.path, lead.names),
    "alfworld": lambda lead: Walker(lead.path),
}
"""Who follows a path, by environment."""


def player_of(environment: str) -> Callable[[Lead], Player]:
    """Makes the player of an environment."""
    if environment not in PLAYERS:
        raise BadInput(
            f"No policy follows paths in the environment {environment!r}.",
            fix=f"There is one for: {', '.join(PLAYERS)}.",
        )
    return PLAYERS[environment]


def _plain(action: str) -> str:
    return _NUMBER.sub("", action)


def _fitting(wanted: str, actions: Sequence[str]) -> str | None:
    """A possible action that is the wanted one, or else does the same with another place."""
    exact = [action for action in actions if _plain(action) == wanted]
    start = wanted.partition(" from ")[0] if wanted.startswith("take ") else wanted
    loose = [action for action in actions if _plain(action).startswith(f"{start} from ")]
    return next(iter([*exact, *loose]), None)
