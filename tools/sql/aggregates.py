"""Sums and averages that a question asks for and a query does not compute.

"Which region has the most revenue?" asks for the sum of each region if each has several sales.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from planweave.tools.asked_average import find_inner_aggregate
from planweave.tools.linking import plain, singular, singulars_of
from planweave.tools.sql.catalogue import Catalogue
from planweave.tools.sql.tree import (
    clear_clauses,
    find_number_bounds,
    get_outputs,
    group_by,
    remove_conditions,
)
from planweave.tools.synonyms import SYNONYMS

_IN_TOTAL = re.compile(r"\b(?:in total|altogether|overall|in all|fewest)\b", re.IGNORECASE)
_MOST = re.compile(r"\b(?:most|least) (?P<noun>[^\W\d_]+)", re.IGNORECASE)
_ADJECTIVE = re.compile(r"(?:ive|ent|ant|al|ar|ous|ful|able|ible|ed|ing|ly|common)$", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\b(?:which|what|who|list|show|name)(?: (?:me|all|of|the|top|is|are|\d+))* (?P<noun>\w+)",
    re.IGNORECASE,
)
_SUMMED = frozenset(
    {"revenue", "sale", "turnover", "income", "profit", "spending", "expense", "unit", "quantity"}
    | {"piece"}
)
"""Words in names of columns whose values are summed."""
_NOT_SUMMED = frozenset(
    {"price", "rate", "rating", "score", "balance", "level", "date", "id", "day", "percent"}
    | {"share", "average", "avg"}
)
"""Words in names of columns that are not summed, whatever else the name has: ``sale_price``."""
_SYNONYMS = [frozenset(map(singular, words)) for words in SYNONYMS]
_BOUND = r"\b(?:above|over|below|under|than|least|most|exceed\w*)\D{0,12}?"
_AVERAGE_BOUND = re.compile(
    rf"\b(?:average|mean)\b[^.?!;]{{0,60}}?{_BOUND}(?P<after>\d+(?:\.\d+)?)"
    rf"|{_BOUND}(?P<before>\d+(?:\.\d+)?)[^.?!;\d]{{0,20}}?\bon average",
    re.IGNORECASE,
)
"""A number that an average is compared with, after or before the word."""


def sum_counts(select: exp.Select, catalogue: Catalogue, question: str) -> list[str]:
    """Sum the column ``count`` of a table instead of counting its rows."""
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
    """Compare the average of each group if the question bounds an average, not single rows.

    "Cuisines that score above 4 on average" is about groups, ``WHERE rating > 4`` about rows.
    """
    bounds = {one["after"] or one["before"] for one in _AVERAGE_BOUND.finditer(question)}
    if not bounds or select.find(exp.Avg):
        return []
    found = [one for one in find_number_bounds(select) if one.expression.name in bounds]
    shown = get_outputs(select)
    if len(found) != 1 or not all(isinstance(one, exp.Column) for one in shown):
        return []
    (bound,) = found
    remove_conditions(select, found)
    if not select.args.get("group"):
        group_by(select, shown)
    clear_clauses(select, "distinct")
    bound.set("this", exp.Avg(this=bound.this.copy()))
    select.having(bound, copy=False)
    return [f"compares {bound.this.sql()}"]


def average_groups(
    select: exp.Select, question: str, columns: Iterable[str]
) -> tuple[exp.Select, list[str]]:
    """Average the one sum or count of each group if the question asks for that alone.

    Returns:
        The query, and what was changed.
    """
    values = [one for one in select.expressions if one.find(exp.AggFunc)]
    is_grouped = select.args.get("group") and not select.args.get("limit")
    if not is_grouped or len(values) != 1 or not find_inner_aggregate(question, columns):
        return select, []
    (value,) = values
    if not isinstance(value.unalias(), exp.Sum | exp.Count):
        return select, []
    name, inner = value.alias or "total", select.copy()
    inner.set("order", None)
    if not value.alias:
        unnamed = next(one for one in inner.expressions if one == value)
        unnamed.replace(exp.alias_(value.copy(), name))
    outer = exp.select(exp.Avg(this=exp.column(name))).from_(inner.subquery("each_one"))
    return outer, [f"averages {value.unalias().sql()}"]


def sum_rows(
    select: exp.Select, question: str, counts_differ: Callable[[exp.Select], bool]
) -> list[str]:
    """Sum, for each thing shown, the column that single rows are sorted or bounded by."""
    shown = get_outputs(select)
    if select.args.get("group") or any(
        one.is_star or one.find(exp.AggFunc, exp.Window, exp.Select) for one in shown
    ):
        return []
    bounds = [one for one in find_number_bounds(select) if _is_summed(one.this)]
    measures = [one.copy() for one in [*_find_order(select, question), *(b.this for b in bounds)]]
    names = [one for one in shown if one not in measures]
    if not measures or not names or not all(isinstance(one, exp.Column) for one in names):
        return []
    if not _is_subject(names[0], question):
        return []
    if not counts_differ(_build_counts(select, names[0], bounds)):
        return []
    _replace_by_sums(select, measures)
    for bound in bounds:
        total = bound.copy()
        total.this.replace(exp.Sum(this=total.this.copy()))
        select.having(total, copy=False)
    remove_conditions(select, bounds)
    group_by(select, names)
    clear_clauses(select, "distinct")
    return [f"adds up {one.sql()} for each {names[0].sql()}" for one in measures]


def _find_order(select: exp.Select, question: str) -> Sequence[exp.Expr]:
    """Find the first sort key of the rows if it should be summed; else nothing."""
    order = select.args.get("order")
    if not order:
        return ()
    by = order.expressions[0].this
    if isinstance(by, exp.Column) and not by.table:
        named = {one.alias_or_name: one.unalias() for one in select.expressions}
        by = named.get(by.name, by)
    if by.find(exp.AggFunc, exp.Select, exp.Window) or singulars_of(by.name) & _NOT_SUMMED:
        return ()
    return (by,) if _asks_for_total(question) or _is_summed(by) else ()


def _build_counts(select: exp.Select, name: exp.Expr, bounds: Sequence[exp.Expr]) -> exp.Select:
    """Build the query for the number of rows, and that of different names."""
    counts = select.copy()
    remove_conditions(counts, bounds)
    clear_clauses(counts, "order", "limit", "offset", "distinct")
    each = exp.Count(this=exp.Distinct(expressions=[name.copy()]))
    counts.set("expressions", [exp.Count(this=exp.Star()), each])
    return counts


def _replace_by_sums(select: exp.Select, measures: Sequence[exp.Expr]) -> None:
    """Replace measures by their sums in the output and the sort order."""
    order = select.args.get("order")
    sorted_by = [order.expressions[0].this] if order else []
    for one in [*get_outputs(select), *sorted_by]:
        if one in measures:
            one.replace(exp.Sum(this=one.copy()))


def _is_summed(measure: exp.Expr) -> bool:
    words = singulars_of(measure.name)
    return bool(words & _SUMMED) and not words & _NOT_SUMMED


def _asks_for_total(question: str) -> bool:
    return bool(_IN_TOTAL.search(question)) or any(
        not _ADJECTIVE.search(found["noun"]) for found in _MOST.finditer(question)
    )


def _is_subject(column: exp.Expr, question: str) -> bool:
    """Whether the question asks for the things that a column names ("which regions")."""
    asked = _SUBJECT.search(question)
    if asked is None:
        return False
    own, noun = singulars_of(column.name), singular(asked["noun"].lower())
    same = (words for words in _SYNONYMS if noun in words)
    return bool(own & {noun}.union(*same)) or asked[0].lower().startswith("who ")
