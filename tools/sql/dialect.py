"""Functions and dates in a query for SQLite, which lacks those of other dialects."""

import re
from collections.abc import Callable

from sqlglot import ErrorLevel, exp

from planweave.tools.sql.catalogue import ColumnTest

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "DOW": "%w"}
_STARTS = {"YEAR": "%Y-01-01", "MONTH": "%Y-%m-01", "DAY": "%Y-%m-%d"}
_UNITS = ("day", "days", "hour", "hours", "minute", "minutes", "month", "months", "year", "years")


def translate_functions(tree: exp.Expr) -> list[str]:
    """Rewrite functions of dates and texts that SQLite lacks."""
    rewrites: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr | None]] = {
        exp.DateDiff: _subtract_dates,
        exp.TimestampDiff: _subtract_dates,
        exp.Year: lambda node: _extract("YEAR", node.this),
        exp.Month: lambda node: _extract("MONTH", node.this),
        exp.Day: lambda node: _extract("DAY", node.this),
        exp.Extract: lambda node: _extract(node.name.upper(), node.expression),
        exp.DateTrunc: _truncate,
        exp.TimestampTrunc: _truncate,
        exp.DateSub: lambda node: _shift(node.this, node, "-"),
        exp.DateAdd: lambda node: _shift(node.this, node, "+"),
        exp.Sub: lambda node: _shift_by_interval(node, "-"),
        exp.Add: lambda node: _shift_by_interval(node, "+"),
        exp.Left: lambda node: _call("SUBSTR", node.this, exp.Literal.number(1), node.expression),
    }
    changes = []
    for node in reversed(list(tree.find_all(*rewrites))):
        before = node.sql(dialect="sqlite", unsupported_level=ErrorLevel.IGNORE)
        if (rewritten := rewrites[type(node)](node)) is not None:
            node.replace(rewritten)
            changes.append(f"{before} → {rewritten.sql(dialect='sqlite')}")
    return changes


def _call(name: str, *arguments: exp.Expr | str) -> exp.Expr:
    """Build a call; an argument that is a ``str`` becomes a text literal."""
    expressions = [
        exp.Literal.string(one) if isinstance(one, str) else one.copy() for one in arguments
    ]
    return exp.Anonymous(this=name, expressions=expressions)


def _subtract_dates(node: exp.Expr) -> exp.Expr | None:
    """``DATEDIFF(later, earlier)``, or with a unit ``DATEDIFF('day', earlier, later)``."""
    later, earlier, unit = node.this, node.expression, node.args.get("unit")
    if unit is not None and node.this.name.lower() in _UNITS:
        # sqlglot reads a date in the last place as the name of a unit.
        later = unit.name if isinstance(unit, exp.Var) else unit
    days = exp.Sub(this=_call("JULIANDAY", later), expression=_call("JULIANDAY", earlier))
    return exp.paren(days)


def _extract(part: str, date: exp.Expr) -> exp.Expr | None:
    if part not in _PARTS:
        return None
    return exp.cast(_call("STRFTIME", _PARTS[part], date), "INTEGER", dialect="sqlite")


def _truncate(node: exp.Expr) -> exp.Expr | None:
    unit = node.text("unit").upper()
    return _call("STRFTIME", _STARTS[unit], node.this) if unit in _STARTS else None


def _shift_by_interval(node: exp.Expr, sign: str) -> exp.Expr | None:
    is_interval = isinstance(node.expression, exp.Interval)
    return _shift(node.this, node.expression, sign) if is_interval else None


def _shift(date: exp.Expr, amount: exp.Expr, sign: str) -> exp.Expr | None:
    """Build a date some time before or after another; ``amount`` has a number and a unit."""
    if isinstance(amount.expression, exp.Interval):
        amount = amount.expression
    number = amount.this if isinstance(amount, exp.Interval) else amount.expression
    unit = amount.text("unit").lower() or "days"
    if not isinstance(number, exp.Literal) or not number.name.lstrip("-").isdigit():
        return None
    count, unit = (int(number.name) * 7, "days") if unit.startswith("week") else (number.name, unit)
    return _call("DATE", date, f"{sign}{count} {unit}")


def subtract_days(tree: exp.Expr, is_date: ColumnTest) -> list[str]:
    """Count the days between dates: SQLite would subtract their years."""

    def has_date(node: exp.Expr) -> bool:
        if isinstance(node, exp.Literal):
            return node.is_string and _DATE.match(node.name) is not None
        return isinstance(node, exp.Column) and is_date(node)

    found = [
        one for one in tree.find_all(exp.Sub) if has_date(one.this) and has_date(one.expression)
    ]
    for difference in found:
        for side in ("this", "expression"):
            difference.set(side, _call("JULIANDAY", difference.args[side]))
    return ["subtracts dates in days"] if found else []


def include_last_day(tree: exp.Expr, is_moment: ColumnTest) -> list[str]:
    """Include the last day of a period: SQLite sorts a moment of that day after its date."""
    changes = []
    for test in tree.find_all(exp.LTE, exp.Between):
        column = test.this
        names = ("expression",) if isinstance(test, exp.LTE) else ("low", "high")
        ends = [test.args[name] for name in names]
        are_days = all(isinstance(one, exp.Literal) and _DATE.fullmatch(one.name) for one in ends)
        if isinstance(column, exp.Column) and is_moment(column) and are_days:
            test.set("this", _call("DATE", column))
            changes.append(f"compares the day of {column.sql()}")
    return changes


def set_present(tree: exp.Expr, now: str) -> list[str]:
    """Replace the database's clock with the moment of the question, in any dialect."""
    texts = [one for one in tree.find_all(exp.Literal) if one.is_string and one.name == "now"]
    clocks = list(tree.find_all(exp.CurrentDate, exp.CurrentTimestamp))
    for text in texts:
        text.replace(exp.Literal.string(now))
    for clock in clocks:
        is_date = isinstance(clock, exp.CurrentDate)
        clock.replace(exp.Literal.string(now.partition(" ")[0] if is_date else now))
    return [f"the present is {now}"] if texts or clocks else []
