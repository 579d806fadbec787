"""Checks by rules that need no model: whether a decision or a sentence follows from facts."""

from planweave.tools.checking.claims import CITATION, Judgement, judge, said_by, says_result
from planweave.tools.checking.decisions import Following, follow
from planweave.tools.checking.rows import asks_for_order, follow_rows, rows_asked
from planweave.tools.checking.tables import view_of
from planweave.tools.checking.words import superlatives

__all__ = [
    "CITATION",
    "Following",
    "Judgement",
    "asks_for_order",
    "follow",
    "follow_rows",
    "judge",
    "rows_asked",
    "said_by",
    "says_result",
    "superlatives",
    "view_of",
]
