"""Checks by rules that need no model: whether a decision or a sentence follows from facts."""

from planweave.tools.checking.claims import CITATION as CITATION
from planweave.tools.checking.claims import facts_text as facts_text
from planweave.tools.checking.claims import has_result as has_result
from planweave.tools.checking.claims import judge as judge
from planweave.tools.checking.decisions import Following as Following
from planweave.tools.checking.decisions import follow as follow
from planweave.tools.checking.rows import asks_for_order as asks_for_order
from planweave.tools.checking.rows import follow_rows as follow_rows
from planweave.tools.checking.rows import rows_asked as rows_asked
from planweave.tools.checking.tables import view_of as view_of
from planweave.tools.checking.words import superlatives as superlatives
