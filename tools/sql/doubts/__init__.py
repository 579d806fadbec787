"""Reasons against a ranking query: what it misses, adds, counts wrongly or reverses.

A ranking decides by what its query computes. So the query is compared with the question and the
rules that it needs: their columns, values, numbers, periods and formulas must be in it, tables must
be joined by keys and rows counted once. No model is asked. Anything that the check cannot follow is
a doubt, since accepting a wrong query is worse than rejecting a right one.
"""

import re
from collections.abc import Iterable

from sqlglot import exp

from planweave.texts import listed
from planweave.tools.database import Schema
from planweave.tools.linking import Values
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.dialect import set_present
from planweave.tools.sql.doubts.counting import find_wrong_counts
from planweave.tools.sql.doubts.mentions import find_unmentioned, find_unused
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.sql.doubts.question import SchemaQuestion
from planweave.tools.sql.doubts.reversals import find_reversals
from planweave.tools.sql.tree import parse_query

_SHOWN = 4
_TODAY = re.compile(r"\btoday is \d{4}-\d{2}-\d{2}", re.IGNORECASE)
_ANY_DAY = "2000-01-01"


def find_doubts(
    query: str, question: str, rules: str, schema: Schema, values: Values, dialect: str
) -> tuple[str, ...]:
    """Return the reasons, in sentences, why the first row of a ranking may be wrong."""
    if (tree := parse_query(query, dialect)) is None:
        return ("The query cannot be read.",)
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1:
        return ("The query is nested, which the check does not follow.",)
    catalogue = Catalogue(schema)
    ranking = RankingQuery(tree, catalogue, values)
    option = ranking.option.name.lower()
    asked = SchemaQuestion(question, rules, schema, catalogue, values, option)
    doubts = []
    if _TODAY.search(rules) and set_present(tree.copy(), _ANY_DAY):
        doubts.append("The query asks the database's clock for the day that the rules name.")
    if unused := _quote(find_unused(ranking, asked)):
        doubts.append(f"The query does not use {unused}.")
    if unmentioned := _quote(find_unmentioned(ranking, asked)):
        doubts.append(f"The query uses {unmentioned}, of which nothing is said.")
    doubts += dict.fromkeys((*find_wrong_counts(ranking, asked), *find_reversals(ranking, asked)))
    return tuple(doubts)


def _quote(names: Iterable[str]) -> str:
    quoted = [f"“{name}”" for name in dict.fromkeys(names)]
    return listed(quoted, _SHOWN) if quoted else ""
