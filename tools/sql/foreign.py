"""Functions of other dialects in a query for SQLite, written as SQLite has them."""

from collections.abc import Callable

from sqlglot import ErrorLevel, exp

_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "DOW": "%w"}
_STARTS = {"YEAR": "%Y-01-01", "MONTH": "%Y-%m-01", "DAY": "%Y-%m-%d"}
_UNITS = ("day", "days", "hour", "hours", "minute", "minutes", "month", "months", "year", "years")


def as_sqlite_has_them(tree: exp.Expr) -> list[str]:
    """Rewrite functions of dates and texts that SQLite lacks; returns what was changed."""
    kinds: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr | None]] = {
        exp.DateDiff: _difference,
        exp.TimestampDiff: _difference,
        exp.Year: lambda node: _part("YEAR", node.this),
        exp.Month: lambda node: _part("MONTH", node.this),
        exp.Day: lambda node: _part("DAY", node.this),
        exp.Extract: lambda node: _part(node.name.upper(), node.expression),
        exp.DateTrunc: _start,
        exp.TimestampTrunc: _start,
        exp.DateSub: lambda node: _shifted(node.this, node, "-"),
        exp.DateAdd: lambda node: _shifted(node.this, node, "+"),
        exp.Sub: lambda node: _interval(node, "-"),
        exp.Add: lambda node: _interval(node, "+"),
        exp.Left: lambda node: _call("SUBSTR", node.this, exp.Literal.number(1), node.expression),
    }
    changes = []
    for node in reversed(list(tree.find_all(*kinds))):
        written = node.sql(dialect="sqlite", unsupported_level=ErrorLevel.IGNORE)
        if (made := kinds[type(node)](node)) is not None:
            node.replace(made)
            changes.append(f"{written} → {made.sql(dialect='sqlite')}")
    return changes


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[one.copy() for one in arguments])


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _difference(node: exp.Expr) -> exp.Expr | None:
    """``DATEDIFF(later, earlier)``, or with a unit ``DATEDIFF('day', earlier, later)``."""
    later, earlier, unit = node.this, node.expression, node.args.get("unit")
    if unit is not None and node.this.name.lower() in _UNITS:
        # sqlglot takes a date in the last place for the name of a unit.
        later = _text(unit.name) if isinstance(unit, exp.Var) else unit
    days = exp.Sub(this=_call("JULIANDAY", later), expression=_call("JULIANDAY", earlier))
    return exp.paren(days)


def _part(name: str, date: exp.Expr) -> exp.Expr | None:
    if name not in _PARTS:
        return None
    return exp.cast(_call("STRFTIME", _text(_PARTS[name]), date), "INTEGER", dialect="sqlite")


def _start(node: exp.Expr) -> exp.Expr | None:
    unit = node.text("unit").upper()
    return _call("STRFTIME", _text(_STARTS[unit]), node.this) if unit in _STARTS else None


def _interval(node: exp.Expr, sign: str) -> exp.Expr | None:
    interval = node.expression
    if not isinstance(interval, exp.Interval):
        return None
    return _shifted(node.this, interval, sign)


def _shifted(date: exp.Expr, amount: exp.Expr, sign: str) -> exp.Expr | None:
    """A date some time before or after another; ``amount`` has a number and a unit."""
    if isinstance(amount.expression, exp.Interval):
        amount = amount.expression
    number = amount.this if isinstance(amount, exp.Interval) else amount.expression
    unit = amount.text("unit").lower() or "days"
    if not isinstance(number, exp.Literal) or not number.name.lstrip("-").isdigit():
        return None
    count, unit = (int(number.name) * 7, "days") if unit.startswith("week") else (number.name, unit)
    return _call("DATE", date, _text(f"{sign}{count} {unit}"))
