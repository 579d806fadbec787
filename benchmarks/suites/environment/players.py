"""Following a path without any language model: what retrieval alone is worth.

Slots are filled from the question and from what was seen. One player for each kind of environment:
they read with rules of a few lines, and depart from a path only where its next action is not
possible.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeAlias

from planweave.learning.slots import ASKED, FOUND, QuestionSlots
from planweave.tools.environments import OPEN, Observation

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
_PRICE = re.compile(r",? and price lower than .*")
_LIMIT = re.compile(r"price lower than (\d+(?:\.\d+)?)")
_WORD = re.compile(r"[\w-]+")
_ROOM = re.compile(r"(?:You move to the|This (?:room|outside location) is called the) ([a-z ]+)\.")
_REFUSED = re.compile(r"No known action|The .+ (?:is not|cannot|can't)|.*(?:can't|not possible)")
_GO, _OPEN = "go to ", "open door to "
_ALIKE = 0.5
_ITEM = re.compile(r"^\[(\w{10})\]\n.*\n\$(\d+(?:\.\d+)?)$", re.MULTILINE)


class Player(Protocol):
    """Plays one task."""

    def act(self, seen: Observation, possible: Possible) -> str | None:
        """The next action; None when it knows of none."""


class Lead(NamedTuple):
    """What a player follows."""

    question: str
    path: Sequence[str]  # instructions in which the question's own names are filled in already
    names: Sequence[str]  # what the question names
    origin: str  # the question that the path is from; where it is from several, one of them
    known: Sequence[Sequence[str]]  # all known paths, as they were gone


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


class Buyer:
    """WebShop: buys the first product that is cheap enough, with the options that are asked for.

    It searches with the words of the instruction. After ``most`` actions it chooses no further
    option.
    """

    def __init__(self, question: str, most: int) -> None:
        self._words = _PRICE.sub("", question)
        limit = _LIMIT.search(question)
        self._limit = float(limit[1]) if limit else float("inf")
        self._left = most
        self._clicked: set[str] = set()

    def act(self, seen: Observation, possible: Possible) -> str | None:
        """See :class:`Player`."""
        self._left -= 1
        links = possible()
        if f"search{OPEN}" in links:
            return f"search[{self._words}]"
        items = _ITEM.findall(seen.text)
        if items:
            cheap = [code for code, price in items if float(price) <= self._limit]
            return f"click[{(cheap or [items[0][0]])[0]}]"
        wanted = [link for link in links if self._asks_for(link)]
        if wanted and self._left > 0:
            self._clicked.add(wanted[0])
            return wanted[0]
        return "click[Buy Now]" if "click[Buy Now]" in links else None

    def _asks_for(self, link: str) -> bool:
        value = link[len("click[") : -1].lower()
        asked = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", self._words.lower())
        return bool(asked) and link not in self._clicked


class Experimenter:
    """ScienceWorld: follows the path, with the things of this task in place of those of that one.

    Words in which the two questions differ are exchanged. It walks to the path's rooms from where
    it is. For an action that is refused it does the one most alike, and exchanges from then on
    what those two differ in: a wire of another colour is that wire to the end.
    """

    def __init__(
        self, question: str, path: Sequence[str], origin: str, doors: Mapping[str, set[str]]
    ) -> None:
        kept = [one for one in path if not one.isdigit() and not one.startswith(_OPEN)]
        after = [*kept[1:], ""]
        self._left = [
            one
            for one, then in zip(kept, after, strict=True)
            if not (one.startswith(_GO) and then.startswith(_GO))  # only where a walk ends matters
        ]
        self._doors = doors
        self._exchanged = _differences(origin, question)
        self._steps: list[str] = []
        self._room = self._tried = ""

    def act(self, seen: Observation, possible: Possible) -> str | None:
        """See :class:`Player`."""
        if seen.text.startswith("Ambiguous request"):
            return "0"
        if room := _ROOM.search(seen.text):
            self._room = room[1]
        refused, self._tried = self._tried if _REFUSED.match(seen.text) else "", ""
        if refused and (other := _most_alike(refused, possible())):
            self._exchanged |= _differences(refused, other)
            return other
        while self._steps or self._left:
            if self._steps:
                return self._steps.pop(0)
            action = _exchanged(self._left.pop(0), self._exchanged)
            if not action.startswith(_GO):
                self._tried = action
                return action
            self._steps = self._way(action.removeprefix(_GO))
        return None

    def _way(self, goal: str) -> list[str]:
        """The actions that lead to a room, through the fewest doors."""
        ways, here = {self._room: list[str]()}, self._room
        following = [here]
        while following and goal not in ways:
            here = following.pop(0)
            for room in sorted(self._doors.get(here, set()) - ways.keys()):
                ways[room] = [*ways[here], f"{_OPEN}{room}", f"{_GO}{room}"]
                following.append(room)
        return ways.get(goal, [f"{_GO}{goal}"])


def doors(paths: Iterable[Sequence[str]]) -> Mapping[str, set[str]]:
    """The rooms beside each room, by the walks of known paths."""
    found: dict[str, set[str]] = {}
    for path in paths:
        rooms = [text.removeprefix(_GO) for text in path if text.startswith(_GO)]
        for one, other in pairwise(rooms):
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return found


PLAYERS: Mapping[str, Callable[[Lead], Player]] = {
    "hotpotqa": lambda lead: Reader(lead.question, lead.path, lead.names),
    "alfworld": lambda lead: Walker(lead.path),
    "webshop": lambda lead: Buyer(lead.question, len(lead.path)),
    "scienceworld": lambda lead: Experimenter(
        lead.question, lead.path, lead.origin, doors(lead.known)
    ),
}
"""Who follows a path, by environment."""


def _plain(action: str) -> str:
    return _NUMBER.sub("", action)


def _fitting(wanted: str, actions: Sequence[str]) -> str | None:
    """A possible action that is the wanted one, or else does the same with another place."""
    exact = [action for action in actions if _plain(action) == wanted]
    start = wanted.partition(" from ")[0] if wanted.startswith("take ") else wanted
    loose = [action for action in actions if _plain(action).startswith(f"{start} from ")]
    return next(iter([*exact, *loose]), None)


def _differences(old: str, new: str) -> dict[str, str]:
    """What is in the new text for the words of the old one that it lacks."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    matched = SequenceMatcher(None, before, after, autojunk=False)
    return {
        " ".join(before[i:j]): " ".join(after[k:m])
        for kind, i, j, k, m in matched.get_opcodes()
        if kind == "replace"
    }


def _exchanged(text: str, words: Mapping[str, str]) -> str:
    if not words:
        return text
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.sub(rf"\b({'|'.join(longest_first)})\b", lambda found: words[found[0]], text)


def _most_alike(wanted: str, actions: Sequence[str]) -> str | None:
    """The action of the same verb that shares most words with the wanted one; at least half."""
    verb, *words = wanted.split()

    def alike(action: str) -> float:
        own = action.split()
        return len({*own[1:]} & {*words}) / len({*own[1:]} | {*words}) if own[0] == verb else 0

    best = max(actions, key=alike, default="")
    return best if best and alike(best) >= _ALIKE else None
