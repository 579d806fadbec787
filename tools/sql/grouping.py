"""What a query groups by and adds up, and what the question asks to be grouped."""

import re

from sqlglot import exp

from planweave.tools.linking import plain
from planweave.tools.sql.catalogue import Catalogue, ColumnTest
from planweave.tools.sql.slips import bounds_of, has_value, test_by, tests_of

_BOUND = r"\b(?:above|over|below|under|than|least|most|exceed\w*)\D{0,12}?"
_AVERAGE_BOUND = re.compile(
    rf"\b(?:average|mean)\b[^.?!;]{{0,60}}?{_BOUND}(?P<after>\d+(?:\.\d+)?)"
    rf"|{_BOUND}(?P<before>\d+(?:\.\d+)?)[^.?!;\d]{{0,20}}?\bon average",
    re.IGNORECASE,
)
"""A number that an average is compared with, after or before the word."""
_SUPERLATIVE = re.compile(r"\b(?:the|our|their) (?:\w+est|most|least|first|last)\b", re.IGNORECASE)
_EACH = re.compile(r"\b(?:each|every|per|by|across|all|group\w*|respective\w*)\b", re.IGNORECASE)
_WHICH = re.compile(r"^\W*(?:which|what|who)\b", re.IGNORECASE)
_HOW_MANY_DIFFERENT = re.compile(r"^\W*how many (?:different|distinct|unique)\b", re.IGNORECASE)


def group_by_what_is_shown(select: exp.Select, question: str = "") -> list[str]:
    """Group by the columns that are beside an aggregate, where the query forgets to.

    Beside ``MAX(price)`` for "the dearest" stands the row of the highest price, not each group.
    """
    if select.args.get("group") or not select.args.get("from_"):
        return []
    shown = [one.unalias() for one in select.expressions]
    keys = [one for one in shown if not one.find(exp.AggFunc) and one.find(exp.Column)]
    aggregates = [one for one in shown if one.find(exp.AggFunc) and not one.find(exp.Window)]
    if not keys or not aggregates or any(one.is_star for one in shown):
        return []
    extreme = aggregates[0]
    if len(aggregates) == 1 and isinstance(extreme, exp.Max | exp.Min) and _is_one(question):
        by = extreme.this.copy()
        extreme.replace(by)
        is_most = isinstance(extreme, exp.Max)
        order = exp.Ordered(this=by.copy(), desc=is_most, nulls_first=False)
        select.order_by(order, copy=False)
        select.limit(1, copy=False)
        return [f"takes the row of the extreme {by.sql()}"]
    select.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return [f"groups by {key.sql()}" for key in keys]


def _is_one(question: str) -> bool:
    """Whether a question asks for the one that is the most of something, and not for each."""
    return _SUPERLATIVE.search(question) is not None and not _EACH.search(question)


def show_keys(select: exp.Select) -> list[str]:
    """Show what rows are grouped by, and what they are ranked by: without it they say little."""
    if select.args.get("distinct") or any(one.is_star for one in select.expressions):
        return []
    group, order = select.args.get("group"), select.args.get("order")
    keys = [key for key in group.expressions if isinstance(key, exp.Column)] if group else []
    sorted_by = [one.this for one in order.expressions] if order else []
    ranks = [k for k in sorted_by if select.args.get("limit") or k.find(exp.AggFunc)]
    if not keys and any(one.find(exp.AggFunc) for one in select.expressions):
        return []
    names = {one.alias_or_name.lower() for one in select.expressions}
    shown = {one.unalias().sql().lower() for one in select.expressions}

    def is_missing(key: exp.Expr) -> bool:
        is_shown = isinstance(key, exp.Literal) or key.sql().lower() in shown
        return not is_shown and not (isinstance(key, exp.Column) and key.name.lower() in names)

    before, after = [k for k in keys if is_missing(k)], [k for k in ranks if is_missing(k)]
    if not before and not after:
        return []
    added = [[key.copy() for key in group] for group in (before, after)]
    select.set("expressions", [*added[0], *select.expressions, *added[1]])
    return [f"shows {key.sql()}" for key in [*before, *after]]


def count_different(select: exp.Select, question: str) -> list[str]:
    """Count the different values of a column where the question asks how many there are."""
    shown = [one.unalias() for one in select.expressions]
    is_list = select.args.get("distinct") and not (
        select.args.get("limit") or select.args.get("group")
    )
    is_asked = _HOW_MANY_DIFFERENT.search(question) and not _EACH.search(question)
    if not is_list or not is_asked or len(shown) != 1 or not isinstance(shown[0], exp.Column):
        return []
    counted = exp.Count(this=exp.Distinct(expressions=[shown[0].copy()]))
    select.set("expressions", [counted])
    select.set("distinct", None)
    select.set("order", None)
    return [f"counts the different {shown[0].sql()}"]


def leave_out_the_nameless(select: exp.Select, question: str, lacking: ColumnTest) -> list[str]:
    """Let no group without a name be what "which company has the most members?" asks for."""
    group = select.args.get("group")
    is_chosen = select.args.get("having") or select.args.get("limit")
    if not group or not is_chosen or not _WHICH.search(question):
        return []
    keys = [key for key in group.expressions if isinstance(key, exp.Column) and lacking(key)]
    for key in keys:
        select.where(has_value(key), copy=False)
    return [f"without rows that have no {key.name}" for key in keys]


def add_up_counts(select: exp.Select, catalogue: Catalogue, question: str) -> list[str]:
    """Add up the column ``count`` of a table that is asked about, in place of counting its rows."""
    tables = list(select.find_all(exp.Table))
    if len(tables) != 1 or "count" not in catalogue.columns.get(tables[0].name.lower(), {}):
        return []
    column = exp.column("count", table=tables[0].alias_or_name if tables[0].alias else None)
    words = plain(question).replace(" ", "")
    if tables[0].name.lower().removesuffix("s") not in words or not catalogue.is_number(column):
        return []
    counts = [one for one in select.find_all(exp.Count) if not one.find(exp.Distinct, exp.Case)]
    for count in counts:
        count.replace(exp.Sum(this=column.copy()))
    return ["adds up count"] if counts else []


def compare_averages(select: exp.Select, question: str) -> list[str]:
    """Compare the average of each group where the question bounds an average, not single rows.

    "Cuisines that score above 4 on average" is asked of groups, ``WHERE rating > 4`` of rows.
    """
    bounds = {one["after"] or one["before"] for one in _AVERAGE_BOUND.finditer(question)}
    if not bounds or select.find(exp.Avg):
        return []
    found = [test for test in bounds_of(select) if test.expression.name in bounds]
    shown = [one.unalias() for one in select.expressions]
    if len(found) != 1 or not all(isinstance(one, exp.Column) for one in shown):
        return []
    (test,) = found
    test_by(select, [one for one in tests_of(select) if one is not test])
    if not select.args.get("group"):
        select.set("group", exp.Group(expressions=[one.copy() for one in shown]))
    select.set("distinct", None)
    test.set("this", exp.Avg(this=test.this.copy()))
    select.having(test, copy=False)
    return [f"compares {test.this.sql()}"]
