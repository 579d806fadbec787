"""Whether a word is known from others by its root, a synonym, or the kind of column it names."""

from planweave.tools.checking.units import is_unit_word
from planweave.tools.checking.words import KINDS, is_of_kind, root
from planweave.tools.synonyms import SYNONYMS

_SYNONYMS = [frozenset(map(root, words)) for words in SYNONYMS]
_OWN_ROOT = 3
"""Words that begin with a longer root derive from it: ``lateness`` from ``late``."""


def is_known(word: str, roots: frozenset[str]) -> bool:
    """Whether ``roots`` contain a word, its stem, a synonym, or a column of its kind."""
    own = root(word)
    if own in roots or any(len(one) > _OWN_ROOT and own.startswith(one) for one in roots):
        return True
    if is_unit_word(own) or any(own in words and words & roots for words in _SYNONYMS):
        return True
    return any(word in words and is_of_kind(kind, roots) for kind, words in KINDS.items())
