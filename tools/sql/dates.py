"""Dates, their parts and the present, as SQLite keeps them."""

import re

from sqlglot import exp

from planweave.tools.sql.catalogue import ColumnTest
from planweave.tools.sql.slips import test_by, tests_of, values_of

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}$")
_UNIT = re.compile(
    r"\b(?:in (?:whole |full )?|how many )(?P<unit>hours|minutes|seconds)\b", re.IGNORECASE
)
_A_DAY = {"hours": 24, "minutes": 1_440, "seconds": 86_400}
_TO_UNITS = (24, 60, 1_440, 3_600, 86_400)
"""What days are multiplied by, by those who forget a step."""
_EACH = re.compile(
    r"\b(?:per|each|every|by) (?:calendar )?(?P<span>month|year|day)\b"
    r"|\b(?P<adverb>monthly|yearly|annually|daily)\b",
    re.IGNORECASE,
)
_ADVERBS = {"monthly": "month", "yearly": "year", "annually": "year", "daily": "day"}
_FORMATS = {"month": "%Y-%m", "year": "%Y", "day": "%Y-%m-%d"}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_FROM_TO = re.compile(
    rf"\b(?:between|from) (?P<first>{'|'.join(_MONTHS)})(?: (?P<since>\d{{4}}))? "
    rf"(?:and|to|through|until|till) (?P<last>{'|'.join(_MONTHS)})(?: (?P<year>\d{{4}}))?",
    re.IGNORECASE,
)
_OF_YEAR = re.compile(rf"\b(?:{'|'.join(_MONTHS)}),? (?:of )?(\d{{4}})\b", re.IGNORECASE)
_LENGTHS = {"%Y": 4, "%Y-%m": 7}
_PARTS = {"%Y": "year", "%m": "month", "%d": "day"}


def read_stored_parts(tree: exp.Expr, is_number: ColumnTest) -> list[str]:
    """Take a year that is stored as a number as it is: SQLite would read it as a day count."""
    changes = []
    for call in list(tree.find_all(exp.TimeToStr, exp.Anonymous)):
        part = _PARTS.get(_part_of(call))
        column = next(call.find_all(exp.Column), None)
        if part and column and part in column.name.lower() and is_number(column):
            changes.append(f"{column.sql()} is the {part} already")
            call.replace(column.copy())
    return changes


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


def count_in_the_unit_asked(tree: exp.Expr, question: str) -> list[str]:
    """Turn a difference of dates, which SQLite counts in days, into the unit that is asked for."""
    asked = _UNIT.search(question)
    if asked is None:
        return []
    unit = asked["unit"].lower()

    found = [
        one
        for one in tree.find_all(exp.Sub)
        if _is_of_days(one) and not one.find_ancestor(exp.Mul, exp.Div, exp.Where)
    ]
    for difference in found:
        days = exp.Paren(this=difference.copy())
        difference.replace(exp.Mul(this=days, expression=exp.Literal.number(_A_DAY[unit])))
    wrong = [
        one.expression
        for one in tree.find_all(exp.Mul)
        if _turns_days(one) and float(one.expression.name) != _A_DAY[unit]
    ]
    for factor in wrong:
        factor.replace(exp.Literal.number(_A_DAY[unit]))
    return [f"counts in {unit}"] if found or wrong else []


def _is_of_days(difference: exp.Expr) -> bool:
    """Whether both sides of a difference are days."""
    sides = (difference.this, difference.expression)
    return all(side.name.upper() == "JULIANDAY" for side in sides)


def _turns_days(product: exp.Mul) -> bool:
    """Whether a product turns one difference of days into another unit, rightly or not."""
    factor, inner = product.expression, product.this
    if not factor.is_number or float(factor.name) not in _TO_UNITS:
        return False
    if product.find_ancestor(exp.Mul, exp.Div) or inner.find(exp.Mul, exp.Div):
        return False
    return [_is_of_days(one) for one in inner.find_all(exp.Sub)] == [True]


def take_named_months(select: exp.Select, question: str, has_year: ColumnTest) -> list[str]:
    """Take all months of a span whose ends alone a query compares by name, and their year."""
    span, tests = _FROM_TO.search(question), tests_of(select)
    named = {
        test: column
        for test in tests
        for column, texts in values_of(test)
        if all(one.name.lower() in _MONTHS for one in texts)
    }
    if len({*named.values()}) != 1:
        return []
    column, changes = next(iter(named.values())), []
    first, last = (_MONTHS.index(span[name].lower()) if span else 0 for name in ("first", "last"))
    if span and span["since"] in (None, span["year"]) and first < last:
        months = [exp.Literal.string(name.capitalize()) for name in _MONTHS[first : last + 1]]
        tests = [test for test in tests if test not in named]
        tests.append(exp.In(this=column.copy(), expressions=months))
        changes.append(f"takes the months from {span['first']} to {span['last']}")
    years = {*_OF_YEAR.findall(question)}
    says_year = any("year" in c.name.lower() for test in tests for c in test.find_all(exp.Column))
    if len(years) == 1 and not says_year and has_year(column):
        year = exp.column("year", table=column.table or None)
        tests.append(exp.EQ(this=year, expression=exp.Literal.number(years.pop())))
        changes.append(f"takes {tests[-1].sql()}")
    if changes:
        test_by(select, tests)
    return changes


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


def compare_parts_alike(tree: exp.Expr) -> list[str]:
    """Compare years with years: to SQLite ``'2023-01' < '2023-01-01'`` and ``'2023' > 2023``."""
    changes = []
    for test in tree.find_all(
        exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In
    ):
        written, part = test.sql(dialect="sqlite"), _part_of(test.this)
        others = [test.expression, test.args.get("low"), test.args.get("high"), *test.expressions]
        others = [one for one in others if one is not None]
        for text in others:
            length = _LENGTHS.get(part, 0)
            if length and isinstance(text, exp.Literal) and _DATE.match(text.name):
                text.replace(exp.Literal.string(text.name[:length]))
        if part in _PARTS and any(map(_is_number, others)):
            test.set("this", exp.cast(test.this.copy(), "INTEGER", dialect="sqlite"))
        if (made := test.sql(dialect="sqlite")) != written:
            changes.append(f"{written} → {made}")
    return changes


def _part_of(node: exp.Expr) -> str:
    """The format in which ``strftime`` writes a date; empty for anything else."""
    if isinstance(node, exp.TimeToStr):
        return node.text("format")
    is_call = isinstance(node, exp.Anonymous) and node.name.lower() == "strftime"
    return node.expressions[0].name if is_call and node.expressions else ""


def _is_number(node: exp.Expr) -> bool:
    return node.is_number or isinstance(node, exp.Sub | exp.Add)


def group_by_span(select: exp.Select, question: str, dates: ColumnTest) -> list[str]:
    """Group by months, years or days where the question asks for each of them."""
    spans = {
        (one["span"] or _ADVERBS[one["adverb"].lower()]).lower() for one in _EACH.finditer(question)
    }
    group, adds_up = select.args.get("group"), select.find(exp.AggFunc) is not None
    columns = {one.sql(): one for one in select.find_all(exp.Column) if dates(one)}
    if len(spans) != 1 or not adds_up or len(columns) != 1:
        return []
    span, (column,) = spans.pop(), columns.values()
    column = column.copy()
    form = exp.Literal.string(_FORMATS[span])
    made = exp.Anonymous(this="STRFTIME", expressions=[form, column.copy()])
    keys = [one.unalias() for one in select.expressions] + (group.expressions if group else [])
    finer = [
        one for one in keys if one == column or (isinstance(one, exp.Date) and one.this == column)
    ]
    if span != "day" and finer:
        for key in finer:
            key.replace(made.copy())
    elif not group and all(one.find(exp.AggFunc) for one in select.expressions):
        select.set("expressions", [exp.alias_(made, span), *select.expressions])
        select.set("group", exp.Group(expressions=[made.copy()]))
    else:
        return []
    return [f"groups by the {span} of {column.sql()}"]


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
