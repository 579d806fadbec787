"""The progress along a path, and its next step.

In the paper the model itself keeps its place in the path; small models lose it.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from planweave.learning.slots import ASKED, FOUND, content_words, remove_price_limit

_SLOT = re.compile(r"\{\w+\}")
_FORM = "[…]"


@dataclass(frozen=True)
class PathProgress:
    """The progress along a path."""

    steps: Sequence[str]
    question: str
    moves: Collection[str] = ()  # such as `click[< prev]`: they carry out only the same step

    def next_step(self, actions: Sequence[str], possible: Sequence[str]) -> int:
        """The index of the next step after these actions; the length of the path at its end.

        An action that repeats a step (it searches another shelf) makes no progress. An action that
        carries out a later step skips the steps between. A step that names nothing of the question
        (``go to shelf``) is only a guess and gives way to a step that is ``possible`` now. Back on
        an earlier page where no remaining step is possible, the next step is the one for that page.
        """
        done_count = self._count_done(actions)
        for at, step in enumerate(self.steps[done_count:], start=done_count):
            if self._filling_actions(step, possible):
                return at
            if _verb_and_names(step)[1] & _words(self.question):
                break
        if not (actions and self._is_move(actions[-1])):
            return done_count
        now = [at for at, step in enumerate(self.steps) if self._filling_actions(step, possible)]
        return done_count if not now or now[-1] >= done_count else now[-1]

    def doing(self, step: str, possible: Sequence[str]) -> list[str]:
        """The possible actions for a step, if possible those that fill its open slots."""
        fitting = [action for action in possible if self._carries_out(action, step)]
        return self._filling_actions(step, fitting) or fitting

    def _filling_actions(self, step: str, possible: Sequence[str]) -> list[str]:
        return [
            one for one in possible if self._carries_out(one, step) and self._fills_slot(one, step)
        ]

    @property
    def ends_the_task(self) -> bool:
        """Whether the last step is the environment's own, such as ``Click[Buy Now]``."""
        last = self.steps[-1]
        own = last.endswith("]") and not _SLOT.search(last)
        return own and not _verb_and_names(last)[1] <= _words(self.question)

    def asked_for(self, actions: Sequence[str], possible: Sequence[str]) -> list[str]:
        """The actions that the question still asks for before the last step, longest first.

        These are possible actions with the same verb that contain only words of the question and
        were not done on this page.
        """
        verb, asked = _verb_and_names(self.steps[-1])[0], _words(self.question)
        moved = max((n for n, action in enumerate(actions) if self._is_move(action)), default=-1)
        done = {action.casefold() for action in actions[moved + 1 :]}
        found = {
            action: names
            for action in possible
            for kind, names in [_verb_and_names(action)]
            if kind == verb and names and names <= asked and not self._is_move(action)
        }
        left = [action for action in found if action.casefold() not in done]
        return sorted(left, key=lambda action: -len(found[action]))

    def _is_move(self, action: str) -> bool:
        return action.casefold() in self.moves

    def _carries_out(self, action: str, step: str) -> bool:
        """Whether an action carries out a step; an action of the path carries out only itself."""
        if self._is_move(action) or action.casefold() in self._spelled_out:
            return action.casefold() == step.casefold()
        return carries_out(action, step, self.question)

    @cached_property
    def _spelled_out(self) -> frozenset[str]:
        return frozenset(step.casefold() for step in self.steps)

    def _fills_slot(self, action: str, step: str) -> bool:
        """Whether an action fits the open slot of a step."""
        if action.endswith(_FORM):
            return True
        names, asked = _verb_and_names(action)[1], _words(self.question)
        if ASKED in step:
            return FOUND in step or bool(names & asked)
        return FOUND not in step or not names <= asked

    def _count_done(self, actions: Sequence[str]) -> int:
        """Count the steps that are done."""
        done_count, moved = 0, False
        for action in actions:
            fitting = [at for at, step in enumerate(self.steps) if self._carries_out(action, step)]
            filled = [at for at in fitting if self._fills_slot(action, self.steps[at])]
            fitting = filled or fitting
            later = [at for at in fitting if at >= done_count]
            if later and later[0] in (done_count, fitting[0]):
                done_count = later[0] + 1
            elif fitting and moved:
                done_count = fitting[-1] + 1
            moved = self._is_move(action) or (moved and not fitting)
        return done_count


def carries_out(action: str, step: str, question: str) -> bool:
    """Whether an action carries out a step: it has the step's verb and names.

    If the step has names from the question, only these must match: ``take apple 1 from shelf 2``
    carries out ``take apple from fridge``, since the place is a guess. A form (``Search[…]``)
    carries out every step with its verb.
    """
    verb, named = _verb_and_names(step)
    done, names = _verb_and_names(action)
    return verb == done and (action.endswith(_FORM) or (named & _words(question) or named) <= names)


def _verb_and_names(text: str) -> tuple[str, set[str]]:
    words = [word.casefold() for word in content_words(_SLOT.sub(" ", text))]
    return "".join(words[:1]), {*words[1:]}


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(remove_price_limit(text))}
