"""How far a path has been followed, and what its next step is.

The paper leaves it to the model to keep its place in the path; small models lose it.
"""

import re
from collections.abc import Sequence

from planweave.learning.slots import content_words

_SLOT = re.compile(r"\{\w+\}")


def next_step(
    steps: Sequence[str], actions: Sequence[str], possible: Sequence[str], question: str
) -> int:
    """Where in a path's ``steps`` the next one stands, after these actions; its length at the end.

    What does a step once more (another shelf is searched) does not go on; what does a later step
    leaves out those between. Steps that are only guesses, as they name nothing of the question
    (``go to shelf``), are passed over for one that is ``possible`` now.
    """
    behind = _done(steps, actions, question)
    for at, step in enumerate(steps[behind:], start=behind):
        if any(does(action, step, question) for action in possible):
            return at
        if _verb_and_names(step)[1] & _words(question):
            break
    return behind


def does(action: str, step: str, question: str) -> bool:
    """Whether an action does a step: its verb, and what the step names.

    Of a step that names something of the question only that has to be the same: ``take apple 1
    from shelf 2`` does ``take apple from fridge``, as where an apple lies is a guess.
    """
    verb, named = _verb_and_names(step)
    done, names = _verb_and_names(action)
    return verb == done and (named & _words(question) or named) <= names


def _done(steps: Sequence[str], actions: Sequence[str], question: str) -> int:
    """How many steps lie behind."""
    behind = 0
    for action in actions:
        fitting = [at for at, step in enumerate(steps) if does(action, step, question)]
        if behind in fitting or (fitting and fitting[0] > behind):
            behind = next(at for at in fitting if at >= behind) + 1
    return behind


def _verb_and_names(text: str) -> tuple[str, set[str]]:
    words = [word.casefold() for word in content_words(_SLOT.sub(" ", text))]
    return "".join(words[:1]), {*words[1:]}


def _words(text: str) -> set[str]:
    return {word.casefold() for word in content_words(text)}
