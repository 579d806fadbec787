"""What speaks against a ranking query: what it does not use, adds, counts or turns round.

A ranking decides by what its query computes. So the query is read against the question and the
rules that it needs: their columns, values, numbers, periods and formulas must be in it, tables must
be joined by keys and rows counted once. No model is asked, and what cannot be followed is a doubt:
a wrong yes is worse than a wrong no.
"""

import re
from collections.abc import Sequence

from sqlglot import exp

from planweave.texts import listed
from planweave.tools.database import Schema
from planweave.tools.linking import Values
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.dates import set_the_present
from planweave.tools.sql.doubts.added import added
from planweave.tools.sql.doubts.asked import SchemaQuestion
from planweave.tools.sql.doubts.counted import counted
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.sql.doubts.turned import turned
from planweave.tools.sql.doubts.unused import unused
from planweave.tools.sql.slips import parsed

_SHOWN = 4
_TODAY = re.compile(r"\btoday is \d{4}-\d{2}-\d{2}", re.IGNORECASE)
_ANY_DAY = "2000-01-01"


def doubts(
    query: str, question: str, rules: str, schema: Schema, values: Values, dialect: str
) -> tuple[str, ...]:
    """Why the leading row of a ranking may not be what is asked for, in sentences; best none."""
    if (tree := parsed(query, dialect)) is None:
        return ("The query cannot be read.",)
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Select))) > 1:
        return ("The query is nested, which the check does not follow.",)
    catalogue = Catalogue(schema)
    read = RankingQuery(tree, catalogue, values)
    asked = SchemaQuestion(question, rules, schema, catalogue, values, read.option_name)
    found = []
    if _TODAY.search(rules) and set_the_present(tree.copy(), _ANY_DAY):
        found.append("The query asks the database's clock for the day that the rules name.")
    if left := list(dict.fromkeys(unused(read, asked))):
        found.append(f"The query does not use {_quoted(left)}.")
    if more := list(dict.fromkeys(added(read, asked))):
        found.append(f"The query uses {_quoted(more)}, of which nothing is said.")
    return (*found, *dict.fromkeys((*counted(read, asked), *turned(read, asked))))


def _quoted(names: Sequence[str]) -> str:
    return listed([f"“{name}”" for name in names], _SHOWN)
