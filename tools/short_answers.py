"""Exact match and F1 of short answers, as HotpotQA, 2WikiMultihopQA and MuSiQue score them.

The normalisation is SQuAD's (Rajpurkar et al. 2016); yes and no match only themselves (HotpotQA's
evaluation script); among several gold answers, the best match counts (MuSiQue's aliases).
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
    """The match of a short answer: exact match and F1, both from 0 to 1."""

    exact: float
    f1: float


def normalise_answer(answer: str) -> str:
    """Normalise an answer: lower case, no punctuation or articles, single blanks."""
    plain = answer.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def match_answer(answer: str, golds: Sequence[str]) -> AnswerMatch:
    """Match an answer with the most similar gold answer; no answer is an empty text."""
    found = normalise_answer(answer)
    known = [normalise_answer(gold) for gold in golds]
    return AnswerMatch(float(found in known), max(_f1(found, gold) for gold in known))


def _f1(answer: str, gold: str) -> float:
    """Harmonic mean of precision and recall over words."""
    if answer == gold:
        return 1.0
    if answer in _CLOSED or gold in _CLOSED:
        return 0.0
    common = (Counter(answer.split()) & Counter(gold.split())).total()
    return 2 * common / (len(answer.split()) + len(gold.split())) if common else 0.0
