"""A query's groups and the columns beside them, its counts, and what the question asks for."""

import re

from sqlglot import exp

from planweave.tools.sql.catalogue import ColumnTest
from planweave.tools.sql.tree import build_not_null, clear_clauses, get_outputs, group_by

_SUPERLATIVE = re.compile(r"\b(?:the|our|their) (?:\w+est|most|least|first|last)\b", re.IGNORECASE)
_EACH = re.compile(r"\b(?:each|every|per|by|across|all|group\w*|respective\w*)\b", re.IGNORECASE)
_WHICH = re.compile(r"^\W*(?:which|what|who)\b", re.IGNORECASE)
_HOW_MANY_DIFFERENT = re.compile(r"^\W*how many (?:different|distinct|unique)\b", re.IGNORECASE)


def group_shown_columns(select: exp.Select, question: str = "") -> list[str]:
    """Group by the columns beside an aggregate if GROUP BY is missing.

    With ``MAX(price)`` for "the dearest", the row with the highest price is shown instead.
    """
    if select.args.get("group") or not select.args.get("from_"):
        return []
    shown = get_outputs(select)
    keys = [one for one in shown if not one.find(exp.AggFunc) and one.find(exp.Column)]
    aggregates = [one for one in shown if one.find(exp.AggFunc) and not one.find(exp.Window)]
    if not keys or not aggregates or any(one.is_star for one in shown):
        return []
    extreme = aggregates[0]
    is_extreme = len(aggregates) == 1 and isinstance(extreme, exp.Max | exp.Min)
    if is_extreme and _SUPERLATIVE.search(question) and not _EACH.search(question):
        by = extreme.this.copy()
        extreme.replace(by)
        is_highest = isinstance(extreme, exp.Max)
        order = exp.Ordered(this=by.copy(), desc=is_highest, nulls_first=False)
        select.order_by(order, copy=False)
        select.limit(1, copy=False)
        return [f"takes the row of the extreme {by.sql()}"]
    group_by(select, keys)
    return [f"groups by {key.sql()}" for key in keys]


def show_keys(select: exp.Select) -> list[str]:
    """Show the columns that rows are grouped by, and what they are ranked by."""
    if select.args.get("distinct") or any(one.is_star for one in select.expressions):
        return []
    group, order = select.args.get("group"), select.args.get("order")
    keys = [key for key in group.expressions if isinstance(key, exp.Column)] if group else []
    sorted_by = [one.this for one in order.expressions] if order else []
    ranks = [one for one in sorted_by if select.args.get("limit") or one.find(exp.AggFunc)]
    if not keys and any(one.find(exp.AggFunc) for one in select.expressions):
        return []
    names = {one.alias_or_name.lower() for one in select.expressions}
    shown = {one.sql().lower() for one in get_outputs(select)}

    def is_missing(key: exp.Expr) -> bool:
        is_shown = isinstance(key, exp.Literal) or key.sql().lower() in shown
        return not is_shown and not (isinstance(key, exp.Column) and key.name.lower() in names)

    before, after = list(filter(is_missing, keys)), list(filter(is_missing, ranks))
    if before or after:
        added = [[key.copy() for key in part] for part in (before, after)]
        select.set("expressions", [*added[0], *select.expressions, *added[1]])
    return [f"shows {key.sql()}" for key in [*before, *after]]


def count_distinct_values(select: exp.Select, question: str) -> list[str]:
    """Count the different values of a column if the question asks how many there are."""
    shown = get_outputs(select)
    is_list = select.args.get("distinct") and not (
        select.args.get("limit") or select.args.get("group")
    )
    is_asked = _HOW_MANY_DIFFERENT.search(question) and not _EACH.search(question)
    if not is_list or not is_asked or len(shown) != 1 or not isinstance(shown[0], exp.Column):
        return []
    counted = exp.Count(this=exp.Distinct(expressions=[shown[0].copy()]))
    select.set("expressions", [counted])
    clear_clauses(select, "distinct", "order")
    return [f"counts the different {shown[0].sql()}"]


def remove_null_groups(select: exp.Select, question: str, has_nulls: ColumnTest) -> list[str]:
    """Remove the group without a name from the answer to "which company has the most members?"."""
    group = select.args.get("group")
    is_chosen = select.args.get("having") or select.args.get("limit")
    if not group or not is_chosen or not _WHICH.search(question):
        return []
    keys = [key for key in group.expressions if isinstance(key, exp.Column) and has_nulls(key)]
    for key in keys:
        select.where(build_not_null(key), copy=False)
    return [f"without rows that have no {key.name}" for key in keys]
