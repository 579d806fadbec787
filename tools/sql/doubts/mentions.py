"""Finds what the question and its rules mention and a query does not use, and the reverse."""

import re
from collections.abc import Iterator

from sqlglot import exp

from planweave.tools.checking.words import KINDS, find_superlatives, stem, tokens
from planweave.tools.rules import DAY, DEMANDS, find_periods
from planweave.tools.sql.doubts.formulas import computes
from planweave.tools.sql.doubts.measure import find_unused_measure
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.sql.doubts.question import SchemaQuestion, find_plain_numbers
from planweave.tools.terms import MARKED, MONEY, PIECES, Rule, stems

_TODAY = re.compile(r"\b(?:today|is past|until now)\b", re.I)
_DEMANDS = re.compile(
    DEMANDS.pattern + r"|\b(?:no|not|never|nobody|nothing|none|only|needs?|count|counted|out|leave"
    r"|double|twice|priority|precedence|bonus|alone|unless)\b",
    re.I,
)
"""Words of a rule that says what to do; others describe the data."""
_CHANGES = re.compile(r"\b(?:double|twice|nothing|bonus)\b", re.IGNORECASE)
"""Words that change the value of a defined term."""
_SETTLES_TIES = re.compile(r"\b(?:ties?|tied|equal\w*|alphabet\w*)\b", re.I)


def find_unused(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Find what the question and the rules mention and the query does not use."""
    yield from _find_unused_periods(query, asked)
    for number in find_plain_numbers(asked.question):
        if number not in query.numbers:
            yield f"{number:g}"
    for text in asked.texts:
        for table, column, value in asked.find_values(text):
            if not query.has_test(table, column):
                yield value
    for rule in asked.rules:
        yield from _find_unused_parts(query, asked, rule)
        if _is_unread(rule, asked):
            yield rule.text
    yield from find_unused_measure(query, asked)


def _find_unused_periods(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    for day in DAY.findall(asked.question):
        if day not in query.texts:
            yield day
    if asked.today is None:
        return
    for period, first in asked.find_periods():
        has_year = period == "year" and str(asked.today.year) in query.texts
        if first not in query.texts and not has_year:
            yield f"this {period}"
    clock = query.tree.find(exp.CurrentDate, exp.CurrentTimestamp)
    has_today = clock is not None or asked.today.isoformat() in query.texts
    if _TODAY.search(asked.definitions) and not has_today:
        yield "today"


def _find_unused_parts(query: RankingQuery, asked: SchemaQuestion, rule: Rule) -> Iterator[str]:
    """Find columns, numbers and the formula of a rule that the query does not use."""
    for formula in rule.formulas:
        if len({*asked.find_columns(formula)}) > 1 and not computes(query.value, formula):
            yield formula
    if rule.leaves_out_gaps:
        return  # a mean or sum ignores NULL
    for name in asked.find_columns(rule.body):
        if name not in query.column_names:
            yield name
    for number in find_plain_numbers(rule.body):
        if number not in query.numbers and number not in (0, 1, 100):
            yield f"{number:g}"
    for word, operators in (("minus", [exp.Sub]), ("divided by", [exp.Div, exp.Avg])):
        if f" {word} " in rule.body and not query.value.find(*operators):
            yield word


def _is_unread(rule: Rule, asked: SchemaQuestion) -> bool:
    """Whether a rule demands something, and names nothing that a query can be searched for."""
    is_demand = _DEMANDS.search(rule.text) and not _SETTLES_TIES.search(rule.text)
    if not is_demand or rule.term or find_superlatives(rule.text):
        return False
    if rule.excludes and any(MARKED.match(other.text) for other in asked.rules):
        return False  # another rule says which rows these are
    terms = {stem(word) for other in asked.rules for word in other.term}
    periods = find_periods(rule.text, asked.today)
    names = (asked.find_columns(rule.text), asked.find_values(rule.text), periods)
    is_named = find_plain_numbers(rule.text) or any(next(iter(found), None) for found in names)
    is_term = terms & stems(tokens(rule.text)) and not _CHANGES.search(rule.text)
    return not (is_named or is_term)


def find_unmentioned(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Find columns of the value, and texts, that neither the question nor the rules mention."""
    mentioned = stems(tokens(asked.text))
    for column in query.value_columns:
        words = stems(tokens(column.name))
        is_mentioned = (
            words & mentioned
            or words <= PIECES
            or (stem("amount") in words and mentioned & MONEY)
            or any(words & stems(kind) and mentioned & stems(kind) for kind in KINDS.values())
        )
        is_plain = column.find_ancestor(exp.Count) is not None or asked.catalogue.is_date(column)
        # Texts that a column is compared with are checked below.
        is_tested = isinstance(column.parent, exp.EQ | exp.NEQ | exp.In | exp.Is)
        if not (is_mentioned or is_plain or is_tested):
            yield column.name
    for text in query.texts:
        if not _is_mentioned(query, asked, text):
            yield text


def _is_mentioned(query: RankingQuery, asked: SchemaQuestion, text: str) -> bool:
    """Whether a text of the query is mentioned, or all other values of its column are."""
    if not any(sign.isalpha() for sign in re.sub("%[A-Za-z]", "", text)):
        days = {*DAY.findall(asked.question), *(first for _, first in asked.find_periods())}
        if asked.today:
            days |= {asked.today.isoformat(), str(asked.today.year)}
        is_later = asked.today and DAY.fullmatch(text) and text > asked.today.isoformat()
        return text in days or bool(is_later) or not re.search(r"\d", text)
    if stems(tokens(text)) & stems(tokens(asked.text)):
        return True
    return any(
        text.casefold() in taken
        and any(value.casefold() not in taken for _, _, value in asked.find_values(asked.text))
        for table, column in query.find_tested_columns()
        if (taken := query.find_taken_values(table, column))
    )
