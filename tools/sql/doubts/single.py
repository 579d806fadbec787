"""A question about a whole, answered from single rows: “the most revenue” by the largest order."""

import re
from collections.abc import Callable, Sequence

from planweave.tools.database import Cell

_WHOLE = re.compile(r"\b(?:in total|altogether|overall|in all|fewest)\b", re.IGNORECASE)
_MOST = re.compile(r"\b(?:most|least) (?P<noun>[^\W\d_]+)", re.IGNORECASE)
_ADJECTIVE = re.compile(r"(?:ive|ent|ant|al|ar|ous|ful|able|ible|ed|ing|ly|common)$", re.IGNORECASE)


def single_row(
    query: str, question: str, dialect: str, run: Callable[[str], Sequence[Sequence[Cell]]]
) -> str:
    """Why the first row may not be what is asked: there are several for what it names.

    Args:
        query: That ran.
        question: What is asked.
        dialect: sqlglot's name of the dialect.
        run: Rows of a query; none if it does not run.

    Returns:
        A sentence; empty where nothing speaks against the query.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if not _asks_for_a_whole(question):
        return ""
    try:
        tree = sqlglot.parse_one(query, read=dialect)
    except (SqlglotError, RecursionError):
        return ""
    order = tree.args.get("order")
    if not isinstance(tree, exp.Select) or not order or tree.args.get("group"):
        return ""
    shown = {one.alias_or_name: one.unalias() for one in tree.expressions}
    by = order.expressions[0].this
    value = shown.get(by.name, by) if isinstance(by, exp.Column) and not by.table else by
    named = next((one for one in shown.values() if one != value), None)
    if not isinstance(named, exp.Column) or value.find(exp.AggFunc, exp.Select, exp.Window):
        return ""
    counting = tree.copy()
    for part in ("order", "limit", "offset", "distinct"):
        counting.set(part, None)
    counts = [exp.Count(this=exp.Star()), exp.Count(this=exp.Distinct(expressions=[named.copy()]))]
    counting.set("expressions", counts)
    rows = run(counting.sql(dialect))
    if not rows or rows[0][0] == rows[0][1]:
        return ""
    return f"The query compares single rows, of which there are several for a {named.name}."


def _asks_for_a_whole(question: str) -> bool:
    return bool(_WHOLE.search(question)) or any(
        not _ADJECTIVE.search(found["noun"]) for found in _MOST.finditer(question)
    )
