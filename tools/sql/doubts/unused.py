"""What the question and its rules speak of and a query does not use."""

import re
from collections.abc import Iterator

from sqlglot import exp

from planweave.tools.rules import DAY
from planweave.tools.sql.doubts.asked import SchemaQuestion, plain_numbers
from planweave.tools.sql.doubts.measure import unused_measure
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.sql.formulas import computes
from planweave.tools.terms import Rule

_TODAY = re.compile(r"\b(?:today|is past|until now)\b", re.I)


def unused(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """What the question and the rules speak of and the query does not use."""
    yield from _unused_periods(query, asked)
    for number in plain_numbers(asked.question):
        if number not in query.numbers:
            yield f"{number:g}"
    for text in asked.texts:
        for table, column, value in asked.spoken(text):
            if not query.tests(table, column):
                yield value
    for rule in asked.rules:
        yield from _unused_in(query, asked, rule)
    yield from unused_measure(query, asked)


def _unused_in(query: RankingQuery, asked: SchemaQuestion, rule: Rule) -> Iterator[str]:
    """Columns, numbers and the formula of a rule that the query does not use."""
    for formula in rule.formulas:
        known = {*asked.named(formula)}
        if len(known) > 1 and not computes(query.value, formula):
            yield formula
    if rule.leaves_out_gaps:
        return  # a mean or sum leaves them out by itself
    for name in asked.named(rule.body):
        if name not in query.used:
            yield name
    for number in plain_numbers(rule.body):
        if number not in query.numbers and number not in (0, 1, 100):
            yield f"{number:g}"
    for word, signs in (("minus", [exp.Sub]), ("divided by", [exp.Div, exp.Avg])):
        if f" {word} " in rule.body and not query.value.find(*signs):
            yield word


def _unused_periods(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    for day in DAY.findall(asked.question):
        if day not in query.texts:
            yield day
    if asked.today is None:
        return
    for period, first in asked.starts():
        if first not in query.texts and not (
            period == "year" and str(asked.today.year) in query.texts
        ):
            yield f"this {period}"
    is_asked = _TODAY.search(" ".join((asked.question, *(r.body for r in asked.rules))))
    clock = query.tree.find(exp.CurrentDate, exp.CurrentTimestamp)
    if is_asked and clock is None and asked.today.isoformat() not in query.texts:
        yield "today"
