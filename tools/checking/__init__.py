"""Checks by rules that need no model: whether a decision or a sentence follows from facts."""

from planweave.tools.checking.claims import CITATION as CITATION
from planweave.tools.checking.claims import facts_text as facts_text
from planweave.tools.checking.claims import has_result as has_result
from planweave.tools.checking.claims import judge as judge
from planweave.tools.checking.decisions import DecisionCheck as DecisionCheck
from planweave.tools.checking.decisions import check_decision as check_decision
from planweave.tools.checking.rows import asks_for_order as asks_for_order
from planweave.tools.checking.rows import check_rows as check_rows
from planweave.tools.checking.rows import find_answer_columns as find_answer_columns
from planweave.tools.checking.tables import view_of as view_of
from planweave.tools.checking.words import find_superlatives as find_superlatives
