"""What a query groups by and adds up, and what the question asks to be grouped.

Each function changes a parsed query in place and returns what it changed, for the reader.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from planweave.tools.linking import plain
from planweave.tools.sql.catalogue import Catalogue

if TYPE_CHECKING:
    from sqlglot import exp

_ONE_ASKED = re.compile(
    r"^\W*(?:how (?:many|much)|what(?:'s| is| was| were| are)? the "
    r"(?:total|sum|average|mean|overall|number|count|ratio|percentage|proportion|share))\b",
    re.IGNORECASE,
)
_GROUPS_ASKED = re.compile(
    r"\b(?:each|every|per|across|by|group\w*|all|different|respective\w*|monthly|yearly|annual\w*"
    r"|daily|weekly|quarterly|top|and|or)\b",
    re.IGNORECASE,
)


def group_by_what_is_shown(select: "exp.Select") -> list[str]:
    """Group by the columns that are beside an aggregate, where the query forgets to."""
    from sqlglot import exp

    if select.args.get("group") or not select.args.get("from_"):
        return []
    shown = [one.unalias() for one in select.expressions]
    keys = [one for one in shown if not one.find(exp.AggFunc) and one.find(exp.Column)]
    aggregates = [one for one in shown if one.find(exp.AggFunc) and not one.find(exp.Window)]
    if not keys or not aggregates or any(one.is_star for one in shown):
        return []
    select.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return [f"groups by {key.sql()}" for key in keys]


def group_no_single_rows(
    select: "exp.Select", keys_beside: Callable[["exp.Column"], set[str]]
) -> list[str]:
    """Leave no column to chance: SQLite shows that of any row where groups do not tell it.

    Beside sums and counts it is grouped by, too; where nothing is added up, nothing is grouped.
    Beside one highest or lowest value SQLite takes the row that has it.

    Args:
        select: Changed in place.
        keys_beside: The key of the table that has a column; empty if that is not sure.
    """
    from sqlglot import exp

    group = select.args.get("group")
    kinds = [type(one) for one in select.find_all(exp.AggFunc)]
    if not group or select.find(exp.Window) or kinds in ([exp.Max], [exp.Min]):
        return []
    written = {key.sql().lower() for key in group.expressions}
    names = {key.name.lower() for key in group.expressions if isinstance(key, exp.Column)}

    def is_told(column: "exp.Column") -> bool:
        key = keys_beside(column)
        return column.name.lower() in names or (bool(key) and key <= names)

    loose = [
        shown
        for one in select.expressions
        if not (shown := one.unalias()).find(exp.AggFunc, exp.Select)
        and not {shown.sql().lower(), one.alias.lower()} & (written | names)
        and not all(is_told(column) for column in shown.find_all(exp.Column))
    ]
    if not loose:
        return []
    if not kinds:
        select.set("group", None)
        return ["does not group"]
    group.set("expressions", [*group.expressions, *(one.copy() for one in loose)])
    return [f"groups by {one.sql()}" for one in loose]


def show_keys(select: "exp.Select") -> list[str]:
    """Show what rows are grouped by, and what they are ranked by: without it they say little."""
    from sqlglot import exp

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

    def is_missing(key: "exp.Expr") -> bool:
        is_shown = isinstance(key, exp.Literal) or key.sql().lower() in shown
        return not is_shown and not (isinstance(key, exp.Column) and key.name.lower() in names)

    before, after = [k for k in keys if is_missing(k)], [k for k in ranks if is_missing(k)]
    if not before and not after:
        return []
    added = [[key.copy() for key in group] for group in (before, after)]
    select.set("expressions", [*added[0], *select.expressions, *added[1]])
    return [f"shows {key.sql()}" for key in [*before, *after]]


def drop_groups(select: "exp.Select", question: str) -> list[str]:
    """Add up all rows where one number is asked for and the query groups by what it hides."""
    from sqlglot import exp

    group = select.args.get("group")
    if not group or select.args.get("having") or select.args.get("limit"):
        return []
    if not _ONE_ASKED.search(question) or _GROUPS_ASKED.search(question):
        return []
    if not all(one.find(exp.AggFunc) for one in select.expressions):
        return []
    select.set("group", None)
    select.set("order", None)
    return [f"does not group by {key.sql()}" for key in group.expressions]


def add_up_beside_sums(select: "exp.Select", table_of: Callable[["exp.Column"], str]) -> list[str]:
    """Add up what is added to a sum or taken from it: ``SUM(a) - b`` has one row's b.

    What stands in the table that is grouped by, as the budget of each department, is one value.

    Args:
        select: Changed in place.
        table_of: The table that has a column; empty if that is not sure.
    """
    from sqlglot import exp

    group = select.args.get("group")
    keys = [key for key in group.expressions if isinstance(key, exp.Column)] if group else []
    grouped = {table_of(key) for key in keys}
    changes = []
    for node in list(select.find_all(exp.Add, exp.Sub)):
        for one, other in ((node.this, node.expression), (node.expression, node.this)):
            columns = list(other.find_all(exp.Column))
            if not one.find(exp.Sum) or not columns or other.find(exp.AggFunc, exp.Select):
                continue
            is_own = node.find_ancestor(exp.Select) is select
            if is_own and all((home := table_of(c)) and home not in grouped for c in columns):
                changes.append(f"adds up {other.sql()}")
                other.replace(exp.Sum(this=other.unnest().copy()))
    return changes


def add_up_counts(select: "exp.Select", catalogue: Catalogue, question: str) -> list[str]:
    """Add up the column ``count`` of a table in place of counting its rows, where it is asked of.

    Args:
        select: Changed in place.
        catalogue: What the schema holds.
        question: What is asked; it names the table.
    """
    from sqlglot import exp

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
