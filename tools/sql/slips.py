"""Slips that small models make again and again in queries, and what was meant.

Each function changes a parsed query in place and returns what it changed, for the reader.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from planweave.tools.said import said_part
from planweave.tools.suggest import nearest

if TYPE_CHECKING:
    from sqlglot import exp

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_SAID = re.compile(r"\b(since|from|after|before|until|till) (\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_TOP = re.compile(r"\btop (\d{1,4}|two|three|four|five|ten)\b(?! ?(?:%|per ?cent))", re.I)
_NUMBERS = {"two": "2", "three": "3", "four": "4", "five": "5", "ten": "10"}
_PARTS = {"%Y": "year", "%m": "month", "%d": "day"}
_FEW_VALUES = 12
_YES = ("y", "yes", "true", "t", "1")
_NO = ("n", "no", "false", "f", "0")


class Compared(NamedTuple):
    """A column that a query compares with a text."""

    table: str
    column: str
    text: "exp.Literal"


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


def show_names(select: "exp.Select", naming: Callable[[str], str]) -> list[str]:
    """Show what the rows of one table are called, where only what they are sorted by is shown.

    Args:
        select: Changed in place.
        naming: The column that names the rows of a table; empty if there is none.
    """
    from sqlglot import exp

    order, source = select.args.get("order"), select.args.get("from_")
    if not order or select.args.get("joins") or select.args.get("group") or not source:
        return []
    keys = {key.this.sql().lower() for key in order.expressions}
    shown = [one.unalias() for one in select.expressions]
    is_bare = all(isinstance(one, exp.Column) and one.sql().lower() in keys for one in shown)
    if not is_bare or select.args.get("distinct") or not isinstance(source.this, exp.Table):
        return []
    name = naming(source.this.name)
    if not name or name.lower() in {one.name.lower() for one in shown}:
        return []
    column = exp.column(name, quoted=not name.isidentifier())
    select.set("expressions", [column, *select.expressions])
    return [f"shows {name}"]


def keep_the_first(select: "exp.Select", question: str) -> list[str]:
    """Return as many rows as the question asks for: the ``top 3`` of a sorted list are three."""
    asked = {*_TOP.findall(question)}
    if len(asked) != 1 or not select.args.get("order") or select.args.get("limit"):
        return []
    number = _NUMBERS.get(found := asked.pop().lower(), found)
    select.limit(int(number), copy=False)
    return [f"returns the first {number}"]


def read_stored_parts(tree: "exp.Expr", is_number: Callable[["exp.Column"], bool]) -> list[str]:
    """Take a year that is stored as a number as it is: SQLite would read it as a day count.

    Args:
        tree: Changed in place.
        is_number: Whether a column holds numbers.
    """
    from sqlglot import exp

    changes = []
    for call in list(tree.find_all(exp.TimeToStr, exp.Anonymous)):
        part = _PARTS.get(call.text("format") or "".join(one.name for one in call.expressions[:1]))
        column = next(call.find_all(exp.Column), None)
        if part and column and part in column.name.lower() and is_number(column):
            changes.append(f"{column.sql()} is the {part} already")
            call.replace(column.copy())
    return changes


def rank_values_only(tree: "exp.Expr", lacking: Callable[["exp.Column"], bool]) -> list[str]:
    """Let nothing be the lowest: SQLite sorts a missing value before all others.

    Args:
        tree: Changed in place.
        lacking: Whether rows have no value in a column.
    """
    from sqlglot import exp

    changes = []
    for select in tree.find_all(exp.Select):
        order = select.args.get("order") if select.args.get("limit") else None
        shown = {one.alias: one for one in select.expressions if one.alias}
        for key in order.expressions if order else ():
            meant = shown.get(key.this.name, key)
            if key.args.get("nulls_first") and any(map(lacking, meant.find_all(exp.Column))):
                key.set("nulls_first", False)
                changes.append("a missing value ranks last")
    return changes


def divide_as_real_numbers(tree: "exp.Expr") -> list[str]:
    """Keep the fraction of a ratio: whole numbers divided are cut to whole numbers."""
    from sqlglot import exp

    found = [
        division
        for division in tree.find_all(exp.Div)
        if not _is_real(division) and not division.find_ancestor(exp.Limit, exp.Offset)
    ]
    for division in found:
        one = exp.Literal.number("1.0")
        division.set("this", exp.Mul(this=one, expression=exp.paren(division.this.unnest())))
    return ["divides as real numbers"] if found else []


def _is_real(division: "exp.Div") -> bool:
    from sqlglot import exp

    if division.find(exp.Cast):
        return True
    numbers = [one.name for one in division.find_all(exp.Literal) if not one.is_string]
    return any("." in number for number in numbers)


def subtract_days(tree: "exp.Expr", dates: Callable[["exp.Column"], bool]) -> list[str]:
    """Count the days between dates: SQLite subtracts their years.

    Args:
        tree: Changed in place.
        dates: Whether a column holds dates.
    """
    from sqlglot import exp

    def is_date(node: "exp.Expr") -> bool:
        if isinstance(node, exp.Literal):
            return node.is_string and _DATE.match(node.name) is not None
        return isinstance(node, exp.Column) and dates(node)

    found = [one for one in tree.find_all(exp.Sub) if is_date(one.this) and is_date(one.expression)]
    for difference in found:
        for side in ("this", "expression"):
            days = exp.Anonymous(this="JULIANDAY", expressions=[difference.args[side].copy()])
            difference.set(side, days)
    return ["subtracts dates in days"] if found else []


def join_alternatives(tree: "exp.Expr") -> list[str]:
    """Read ``a = 1 AND b = 2 OR b = 3`` as ``a = 1 AND (b = 2 OR b = 3)``.

    Alternatives for one column belong together, though AND binds more tightly than OR.
    """
    from sqlglot import exp

    changes = []
    for either in [one for one in tree.find_all(exp.Or) if not isinstance(one.parent, exp.Or)]:
        terms = [
            list(term.flatten()) if isinstance(term, exp.And) else [term]
            for term in either.flatten()
        ]
        first, last = terms[0], terms[-1]
        if len(first) > 1 and all(len(term) == 1 for term in terms[1:]):
            rest, meant = first[:-1], [first[-1], *(term[0] for term in terms[1:])]
        elif len(last) > 1 and all(len(term) == 1 for term in terms[:-1]):
            rest, meant = last[1:], [*(term[0] for term in terms[:-1]), last[0]]
        else:
            continue
        columns = {_only_column(one) for one in meant}
        column = columns.pop()
        if columns or not column or column in {_only_column(one) for one in rest}:
            continue
        either.replace(exp.and_(*rest, exp.paren(exp.or_(*meant))))
        changes.append(f"the alternatives for {column} belong together")
    return changes


def _only_column(node: "exp.Expr") -> str:
    from sqlglot import exp

    columns = {column.sql().lower() for column in node.find_all(exp.Column)}
    return columns.pop() if len(columns) == 1 else ""


def write_stored_values(
    compared: Iterable[Compared], values: Callable[[str, str], Sequence[str]]
) -> list[str]:
    """Write compared texts as the data has them: ``'mathematics'`` becomes ``'Mathematics'``.

    Args:
        compared: Columns and the texts that they are compared with.
        values: The values of a column, by table and column.
    """
    from sqlglot import exp

    changes = []
    for table, column, text in compared:
        stored = values(table, column)
        meant = _meant(text.name, stored)
        if text.name in stored or not meant:
            continue
        is_number = meant in ("0", "1")
        text.replace(exp.Literal.number(meant) if is_number else exp.Literal.string(meant))
        changes.append(f"'{text.name}' → '{meant}'")
    return changes


def values_not_stored(
    compared: Iterable[Compared], values: Callable[[str, str], Sequence[str]]
) -> Iterable[str]:
    """Say which compared texts no row holds, of columns with a few values that can be listed."""
    for table, column, text in compared:
        stored = values(table, column)
        if 0 < len(stored) <= _FEW_VALUES and text.name not in stored:
            yield f"{table}.{column} is never '{text.name}'; it is one of: {', '.join(stored)}."


def _meant(text: str, stored: Sequence[str]) -> str:
    """The stored value that is written in another case, means the same, or alone is alike."""
    word = text.casefold()
    for same in ({word}, _YES if word in _YES else (), _NO if word in _NO else ()):
        if found := [value for value in stored if value.casefold() in same]:
            return found[0] if len(found) == 1 else ""
    close = nearest(text, stored, 2)
    return close[0] if len(close) == 1 else ""


def set_the_present(tree: "exp.Expr", now: str) -> list[str]:
    """Take the moment of the question for the present, where a query asks the database's clock."""
    from sqlglot import exp

    texts = [one for one in tree.find_all(exp.Literal) if one.is_string and one.name == "now"]
    clocks = list(tree.find_all(exp.CurrentDate, exp.CurrentTimestamp))
    for text in texts:
        text.replace(exp.Literal.string(now))
    for clock in clocks:
        is_date = isinstance(clock, exp.CurrentDate)
        clock.replace(exp.Literal.string(now.partition(" ")[0] if is_date else now))
    return [f"the present is {now}"] if texts or clocks else []


def compare_as_said(tree: "exp.Expr", question: str) -> list[str]:
    """Compare as the question says: "since" a day is no earlier than it, "containing" is LIKE."""
    from sqlglot import exp

    kinds: dict[str, type[exp.Expr]] = {
        **dict.fromkeys(("since", "from"), exp.GTE),
        "after": exp.GT,
        "before": exp.LT,
        **dict.fromkeys(("until", "till"), exp.LTE),
    }
    said = {day: kinds[word.lower()] for word, day in _SAID.findall(question)}
    changes = []
    for test in list(tree.find_all(exp.EQ, exp.Like)):
        text = test.expression
        if not isinstance(test.this, exp.Column) or not isinstance(text, exp.Literal):
            continue
        kind, pattern = said.get(text.name.rstrip("%")), _said_pattern(test, text, question)
        if not kind and not pattern:
            continue
        written = test.sql()
        kind, meant = (kind, text.name.rstrip("%")) if kind else (exp.Like, pattern)
        made = kind(this=test.this.copy(), expression=exp.Literal.string(meant))
        test.replace(made)
        changes.append(f"{written} → {made.sql()}")
    return changes


def _said_pattern(test: "exp.Expr", text: "exp.Literal", question: str) -> str:
    """What LIKE compares with where the question names a part of the text; empty if it does not."""
    from sqlglot import exp

    part = said_part(question, text.name) if text.is_string and isinstance(test, exp.EQ) else None
    before, after = part in ("contains", "ends"), part in ("contains", "starts")
    return f"{'%' * before}{text.name}{'%' * after}" if part else ""
