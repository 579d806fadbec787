"""Finds what a ranking reverses: comparisons, values and NULLs."""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from sqlglot import exp

from planweave.tools.checking.words import stem
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.sql.doubts.question import SchemaQuestion, is_negated
from planweave.tools.terms import Rule, stems

Side: TypeAlias = Literal["smaller", "larger"]

_FROM_DAY = re.compile(r"\b(since|from|after|before|until|till) (?:the )?(\d{4}-\d{2}-\d{2})", re.I)
_NONE = re.compile(r"\bha(?:s|ve) none\b", re.I)
_EQUATION = re.compile(r"\b([^\W\d]\w*) = (\w+)")
_OPPOSITE: dict[Side, Side] = {"smaller": "larger", "larger": "smaller"}
_SIDES: dict[Side, str] = {
    "smaller": r"\bafter (?:(?:the|its) )?{0}\b|"
    r"\b{0}\b(?: day| date)? (?:(?:is|was) )?(?:past|before)\b",
    "larger": r"\b{0}\b(?: day| date)? or before\b|\bbefore (?:(?:the|its) )?{0}\b",
}


def find_reversals(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Report comparisons, values and tests for NULL that contradict the question or the rules."""
    sides = _find_sides(asked)
    for test in query.tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE):
        is_less = isinstance(test, exp.LT | exp.LTE)
        left: Side = "smaller" if is_less else "larger"
        ends = ((test.this, left, test.expression), (test.expression, _OPPOSITE[left], test.this))
        for column, side, other in ends:
            if isinstance(column, exp.Column) and _is_reversed(column, side, other, asked, sides):
                yield f"It compares {column.name} the other way round."
    yield from _find_reversed_values(query, asked)
    for rule in asked.rules:
        for name in {*asked.find_columns(rule.body)}:
            must_have_value = _must_have_value(asked, rule, name)
            if must_have_value is not None and (not must_have_value) in query.find_null_tests(name):
                yield f"It takes {name} the other way round."


def _find_sides(asked: SchemaQuestion) -> set[tuple[str, Side]]:
    """Find the side of a comparison on which the texts have a column; none if both."""
    found: set[tuple[str, Side]] = {
        (name, side)
        for text in asked.texts
        for name in asked.find_columns(text)
        for side, pattern in _SIDES.items()
        if re.search(pattern.format(name), text, re.I)
    }
    return {(name, side) for name, side in found if (name, _OPPOSITE[side]) not in found}


def _is_reversed(
    column: exp.Column,
    side: Side,
    other: exp.Expr,
    asked: SchemaQuestion,
    sides: set[tuple[str, Side]],
) -> bool:
    """Whether a column is on the wrong side of a comparison with another expression."""
    day = other.name if isinstance(other, exp.Literal) else ""
    words = {day: word.lower() for word, day in _FROM_DAY.findall(asked.question)}
    first_days = {first for _, first in asked.find_periods()}
    if day in first_days or words.get(day) in ("since", "from", "after"):
        return side == "smaller"
    if day in words:
        return side == "larger"
    return (column.name.lower(), _OPPOSITE[side]) in sides


def _find_reversed_values(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Report values that the query takes although they are excluded, and the reverse."""
    question = asked.question
    wanted = [(t, c, v, is_negated(v, question)) for t, c, v in asked.find_values(question)]
    for rule in asked.rules:
        wanted += [(t, c, v, rule.excludes) for t, c, v in asked.find_values(rule.text)]
        for name, value in _EQUATION.findall(rule.text):
            tables = asked.catalogue.find_tables(name.lower())
            wanted += [(table, name, value, rule.excludes) for table in tables]
    for table, column, value, is_excluded in wanted:
        if query.has_test(table, column):
            is_taken = value.casefold() in query.find_taken_values(table.lower(), column)
            if is_taken == is_excluded:
                yield f"It takes {value!r} the other way round."
    for table, column in query.find_tested_columns():
        values = {*asked.values(asked.catalogue.get_written_name(table), column)}
        is_flag = bool(values) and values <= {"0", "1"}
        is_asked = is_flag and column in asked.find_columns(question)
        if is_asked and query.find_taken_values(table, column) != {"1"}:
            yield f"It takes {column} the other way round."


def _must_have_value(asked: SchemaQuestion, rule: Rule, name: str) -> bool | None:
    """Whether what the question asks for has a value in a column; None if no rule says so."""
    denied = re.search(rf"\b(?:without|with no|no) (?:\w+ ){{0,3}}{name}\b", rule.body, re.I)
    has = re.search(rf"\b(?:with|has) (?:a |an )?\w+ in {name}\b", rule.body, re.I)
    if not (denied or has) or rule.leaves_out_gaps:
        return None
    if not rule.term:  # it marks things that another rule excludes
        is_excluded = any(r.excludes and not r.leaves_out_gaps for r in asked.rules)
        return bool(denied) == is_excluded
    others = (r.body for r in asked.rules if r is not rule and not _NONE.search(r.body))
    is_wanted: set[bool] = set()
    for text in (asked.question, *others):
        is_wanted = is_wanted or {
            is_negated(word, text) != rule.excludes
            for word in re.findall(r"[^\W\d]\w*", text)
            if stem(word) in stems(rule.term)
        }
    if rule.others and rule.others in asked.question:
        is_wanted = {True}
    return bool(has) != is_wanted.pop() if len(is_wanted) == 1 else None
