"""Dates and the present, as SQLite keeps them."""

import re

from sqlglot import exp

from planweave.tools.sql.catalogue import ColumnTest

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}$")


def subtract_days(tree: exp.Expr, dates: ColumnTest) -> list[str]:
    """Count the days between dates: SQLite subtracts their years."""

    def is_date(node: exp.Expr) -> bool:
        if isinstance(node, exp.Literal):
            return node.is_string and _DATE.match(node.name) is not None
        return isinstance(node, exp.Column) and dates(node)

    found = [one for one in tree.find_all(exp.Sub) if is_date(one.this) and is_date(one.expression)]
    for difference in found:
        for side in ("this", "expression"):
            days = exp.Anonymous(this="JULIANDAY", expressions=[difference.args[side].copy()])
            difference.set(side, days)
    return ["subtracts dates in days"] if found else []


def set_the_present(tree: exp.Expr, now: str) -> list[str]:
    """Take the moment of the question for the present, where a query asks the database's clock."""
    texts = [one for one in tree.find_all(exp.Literal) if one.is_string and one.name == "now"]
    clocks = list(tree.find_all(exp.CurrentDate, exp.CurrentTimestamp))
    for text in texts:
        text.replace(exp.Literal.string(now))
    for clock in clocks:
        is_date = isinstance(clock, exp.CurrentDate)
        clock.replace(exp.Literal.string(now.partition(" ")[0] if is_date else now))
    return [f"the present is {now}"] if texts or clocks else []


def take_whole_days(tree: exp.Expr, moments: ColumnTest) -> list[str]:
    """Let a span of days end with its last day: a moment of that day is later than its date."""
    changes = []
    for test in tree.find_all(exp.LTE, exp.Between):
        column = test.this
        ends = (
            [test.expression]
            if isinstance(test, exp.LTE)
            else [test.args["low"], test.args["high"]]
        )
        if isinstance(column, exp.Column) and moments(column) and all(map(_is_day, ends)):
            test.set("this", exp.Anonymous(this="DATE", expressions=[column.copy()]))
            changes.append(f"compares the day of {column.sql()}")
    return changes


def _is_day(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and _DAY.match(node.name) is not None
