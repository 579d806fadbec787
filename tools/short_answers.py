"""Exact match and F1 of short answers, as HotpotQA, 2WikiMultihopQA and MuSiQue score them.

The normalisation is SQuAD's (Rajpurkar et al. 2016); yes and no match only themselves (HotpotQA's
evaluation script); of several gold answers the best match counts (MuSiQue's aliases).
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_CLOSED = ("yes", "no", "noanswer")


class AnswerMatch(NamedTuple):
    """How well a short answer matches, both from 0 to 1."""

    exact: float
    f1: float


def normalised(answer: str) -> str:
    """In lower case, without punctuation and articles, with single blanks."""
    plain = answer.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def match(answer: str, golds: Sequence[str]) -> AnswerMatch:
    """The best match of an answer with any of the gold ones; no answer is an empty one."""
    said = normalised(answer)
    known = [normalised(gold) for gold in golds]
    return AnswerMatch(float(said in known), max(_f1(said, gold) for gold in known))


def _f1(said: str, gold: str) -> float:
    """Harmonic mean of precision and recall over words."""
    if said == gold:
        return 1.0
    if said in _CLOSED or gold in _CLOSED:
        return 0.0
    common = (Counter(said.split()) & Counter(gold.split())).total()
    return 2 * common / (len(said.split()) + len(gold.split())) if common else 0.0
