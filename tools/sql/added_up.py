"""What the question asks of a thing in all, and a query of single rows: they are added up.

"Which region has the most revenue?" asks for no single sale, where each region has several.
"""

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from planweave.tools.linking import stem, stems_of
from planweave.tools.sql.slips import bounds_of, test_by, tests_of
from planweave.tools.synonyms import SYNONYMS

_WHOLE = re.compile(r"\b(?:in total|altogether|overall|in all|fewest)\b", re.IGNORECASE)
_MOST = re.compile(r"\b(?:most|least) (?P<noun>[^\W\d_]+)", re.IGNORECASE)
_ADJECTIVE = re.compile(r"(?:ive|ent|ant|al|ar|ous|ful|able|ible|ed|ing|ly|common)$", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\b(?:which|what|who|list|show|name)(?: (?:me|all|of|the|top|is|are|\d+))* (?P<noun>\w+)",
    re.IGNORECASE,
)
_ADDED_UP = frozenset(
    {"revenue", "sale", "turnover", "income", "profit", "spending", "expense", "unit", "quantity"}
    | {"piece"}
)
"""Words of columns that are added up where a thing has several rows."""
_OF_ONE = frozenset(
    {"price", "rate", "rating", "score", "balance", "level", "date", "id", "day", "percent"}
    | {"share", "average", "avg"}
)
"""Words of columns that are not, whatever stands beside them: ``sale_price``."""
_SYNONYMS = [frozenset(map(stem, words)) for words in SYNONYMS]


def add_up(select: exp.Select, question: str, several: Callable[[exp.Select], bool]) -> list[str]:
    """Add up, for each thing that is shown, what single rows are sorted or bounded by."""
    shown = [one.unalias() for one in select.expressions]
    if select.args.get("group") or any(
        one.is_star or one.find(exp.AggFunc, exp.Window, exp.Select) for one in shown
    ):
        return []
    order, bounds = _order(select, question), _bounds(select)
    measures = [one.copy() for one in [*order, *(bound.this for bound in bounds)]]
    names = [one for one in shown if one not in measures]
    if not measures or not names or not all(isinstance(one, exp.Column) for one in names):
        return []
    if not _is_subject(names[0], question) or not several(_counting(select, names[0])):
        return []
    _sum(select, measures)
    for bound in bounds:
        above = bound.copy()
        above.this.replace(exp.Sum(this=above.this.copy()))
        select.having(above, copy=False)
    _without(select, bounds)
    select.set("group", exp.Group(expressions=[name.copy() for name in names]))
    select.set("distinct", None)
    return [f"adds up {one.sql()} for each {names[0].sql()}" for one in measures]


def _order(select: exp.Select, question: str) -> Sequence[exp.Expr]:
    """What the rows are sorted by first, if that is added up; else nothing."""
    order = select.args.get("order")
    if not order:
        return ()
    by = order.expressions[0].this
    if isinstance(by, exp.Column) and not by.table:
        named = {one.alias_or_name: one.unalias() for one in select.expressions}
        by = named.get(by.name, by)
    is_single = by.find(exp.AggFunc, exp.Select, exp.Window) is None and not _is_of_one(by)
    return (by,) if is_single and (_asks_for_a_whole(question) or _is_added_up(by)) else ()


def _bounds(select: exp.Select) -> Sequence[exp.Expr]:
    """The comparisons with a number that all rows must meet, of columns that are added up."""
    return [one for one in bounds_of(select) if _is_added_up(one.this)]


def _counting(select: exp.Select, name: exp.Expr) -> exp.Select:
    """The query for how many rows there are, and how many different names."""
    counting = select.copy()
    _without(counting, _bounds(counting))
    for part in ("order", "limit", "offset", "distinct"):
        counting.set(part, None)
    each = exp.Count(this=exp.Distinct(expressions=[name.copy()]))
    counting.set("expressions", [exp.Count(this=exp.Star()), each])
    return counting


def _without(select: exp.Select, tests: Sequence[exp.Expr]) -> None:
    """Take tests out of those that all rows must meet."""
    test_by(select, [one for one in tests_of(select) if one not in tests])


def _sum(select: exp.Select, measures: Sequence[exp.Expr]) -> None:
    """Put sums in place of measures where they are shown and sorted by."""
    order = select.args.get("order")
    sorted_by = [order.expressions[0].this] if order else []
    for one in [*(one.unalias() for one in select.expressions), *sorted_by]:
        if one in measures:
            one.replace(exp.Sum(this=one.copy()))


def _is_added_up(measure: exp.Expr) -> bool:
    return bool(stems_of(measure.name) & _ADDED_UP) and not _is_of_one(measure)


def _is_of_one(measure: exp.Expr) -> bool:
    return bool(stems_of(measure.name) & _OF_ONE)


def _asks_for_a_whole(question: str) -> bool:
    return bool(_WHOLE.search(question)) or any(
        not _ADJECTIVE.search(found["noun"]) for found in _MOST.finditer(question)
    )


def _is_subject(column: exp.Expr, question: str) -> bool:
    """Whether the question asks for what a column names ("which regions"), and for no rows."""
    asked = _SUBJECT.search(question)
    if asked is None:
        return False
    own, noun = stems_of(column.name), stem(asked["noun"].lower())
    same = (words for words in _SYNONYMS if noun in words)
    return bool(own & {noun}.union(*same)) or asked[0].lower().startswith("who ")
