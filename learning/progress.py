"""How far a path has been followed, and what its next step is.

The paper leaves it to the model to keep its place in the path; small models lose it.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from planweave.learning.slots import ASKED, FOUND, content_words, without_limit

_SLOT = re.compile(r"\{\w+\}")
_FORM = "[…]"


@dataclass(frozen=True)
class PathProgress:
    """What is next on a path."""

    steps: Sequence[str]
    question: str
    moves: Collection[str] = ()  # `click[< prev]` and the like: they do no step but the same

    def next_step(self, actions: Sequence[str], possible: Sequence[str]) -> int:
        """Where in the path the next step is after these actions; the path's length at its end.

        What does a step once more (another shelf is searched) does not go on; what does a later
        step leaves out those between. Steps that are only guesses, as they name nothing of the
        question (``go to shelf``), are passed over for one that is ``possible`` now. Back on an
        earlier page, where no step that is left is possible, the next one is what is done there.
        """
        behind = self._behind(actions)
        for at, step in enumerate(self.steps[behind:], start=behind):
            if self._filling(step, possible):
                return at
            if _verb_and_names(step)[1] & _words(self.question):
                break
        if not (actions and self._moves(actions[-1])):
            return behind
        now = [at for at, step in enumerate(self.steps) if self._filling(step, possible)]
        return behind if not now or now[-1] >= behind else now[-1]

    def doing(self, step: str, possible: Sequence[str]) -> list[str]:
        """The possible actions that do a step: those that fill its open slots, where any does."""
        fitting = [action for action in possible if self._does(action, step)]
        return self._filling(step, fitting) or fitting

    def _filling(self, step: str, possible: Sequence[str]) -> list[str]:
        return [one for one in possible if self._does(one, step) and self._fills(one, step)]

    @property
    def ends_the_task(self) -> bool:
        """Whether the last step is the environment's own, such as ``Click[Buy Now]``."""
        last = self.steps[-1]
        own = last.endswith("]") and not _SLOT.search(last)
        return own and not _verb_and_names(last)[1] <= _words(self.question)

    def asked_for(self, actions: Sequence[str], possible: Sequence[str]) -> list[str]:
        """What the question asks for and is still to do before the last step, the longest first.

        These are possible actions of its kind that name nothing but words of the question, and
        were not done on this page.
        """
        verb, asked = _verb_and_names(self.steps[-1])[0], _words(self.question)
        moved = max((n for n, action in enumerate(actions) if self._moves(action)), default=-1)
        done = {action.casefold() for action in actions[moved + 1 :]}
        found = {
            action: names
            for action in possible
            for kind, names in [_verb_and_names(action)]
            if kind == verb and names and names <= asked and not self._moves(action)
        }
        left = [action for action in found if action.casefold() not in done]
        return sorted(left, key=lambda action: -len(found[action]))

    def _moves(self, action: str) -> bool:
        return action.casefold() in self.moves

    def _does(self, action: str, step: str) -> bool:
        """Whether an action does a step; one that is spelled out in the path does no other."""
        if self._moves(action) or action.casefold() in self._spelled:
            return action.casefold() == step.casefold()
        return does(action, step, self.question)

    @cached_property
    def _spelled(self) -> frozenset[str]:
        return frozenset(step.casefold() for step in self.steps)

    def _fills(self, action: str, step: str) -> bool:
        """Whether an action has for the step's open slot what the slot is for."""
        if action.endswith(_FORM):
            return True
        names, asked = _verb_and_names(action)[1], _words(self.question)
        if ASKED in step:
            return FOUND in step or bool(names & asked)
        return FOUND not in step or not names <= asked

    def _behind(self, actions: Sequence[str]) -> int:
        """How many steps were done."""
        behind, moved = 0, False
        for action in actions:
            fitting = [at for at, step in enumerate(self.steps) if self._does(action, step)]
            filled = [at for at in fitting if self._fills(action, self.steps[at])]
            fitting = filled or fitting
            later = [at for at in fitting if at >= behind]
            if later and later[0] in (behind, fitting[0]):
                behind = later[0] + 1
            elif fitting and moved:
                behind = fitting[-1] + 1
            moved = self._moves(action) or (moved and not fitting)
        return behind


def does(action: str, step: str, question: str) -> bool:
    """Whether an action does a step: its verb, and what the step names.

    Of a step that names something of the question only that has to be the same: ``take apple 1
    from shelf 2`` does ``take apple from fridge``, as where an apple lies is a guess. A form
    (``Search[…]``) does every step of its verb.
    """
    verb, named = _verb_and_names(step)
    done, names = _verb_and_names(action)
    return verb == done and (action.endswith(_FORM) or (named & _words(question) or named) <= names)


def _verb_and_names(text: str) -> tuple[str, set[str]]:
    words = [word.casefold() for word in content_words(_SLOT.sub(" ", text))]
    return "".join(words[:1]), {*words[1:]}


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(without_limit(text))}
