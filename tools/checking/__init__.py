"""Checks by rules that need no model: whether a decision or a sentence follows from facts."""

from tools.checking.claims import CITATION, Judgement, judge, said_by, says_result
from tools.checking.decisions import Following, follow

__all__ = ["CITATION", "Following", "Judgement", "follow", "judge", "said_by", "says_result"]
