"""What a ranking does the other way round: comparisons, values and missing values."""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from sqlglot import exp

from planweave.tools.checking.words import stem
from planweave.tools.sql.doubts.asked import SchemaQuestion, is_denied
from planweave.tools.sql.doubts.query import RankingQuery
from planweave.tools.terms import Rule, stems

Side: TypeAlias = Literal["smaller", "larger"]

_FROM_DAY = re.compile(r"\b(since|from|after|before|until|till) (?:the )?(\d{4}-\d{2}-\d{2})", re.I)
_NONE = re.compile(r"\bha(?:s|ve) none\b", re.I)
_EQUATION = re.compile(r"\b([^\W\d]\w*) = (\w+)")
_OTHER: dict[Side, Side] = {"smaller": "larger", "larger": "smaller"}
_SIDES: dict[Side, str] = {
    "smaller": r"\bafter (?:(?:the|its) )?{0}\b|"
    r"\b{0}\b(?: day| date)? (?:(?:is|was) )?(?:past|before)\b",
    "larger": r"\b{0}\b(?: day| date)? or before\b|\bbefore (?:(?:the|its) )?{0}\b",
}


def turned(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Columns that are compared, and values that are taken, the other way than is said."""
    sides = _sides(asked)
    for test in query.tree.find_all(exp.GT, exp.GTE, exp.LT, exp.LTE):
        below = isinstance(test, exp.LT | exp.LTE)
        for end, other, is_smaller in (
            (test.this, test.expression, below),
            (test.expression, test.this, not below),
        ):
            side: Side = "smaller" if is_smaller else "larger"
            if isinstance(end, exp.Column) and _is_wrong(end, side, other, asked, sides):
                yield f"It compares {end.name} the other way round."
    yield from _wrong_values(query, asked)
    yield from _wrong_gaps(query, asked)


def _is_wrong(
    column: exp.Column,
    side: Side,
    other: exp.Expr,
    asked: SchemaQuestion,
    sides: set[tuple[str, Side]],
) -> bool:
    """Whether a column is on the wrong side of a comparison."""
    day = other.name if isinstance(other, exp.Literal) else ""
    said = {day: word.lower() for word, day in _FROM_DAY.findall(asked.question)}
    if day in {first for _, first in asked.starts()} or said.get(day) in ("since", "from", "after"):
        return side == "smaller"
    if day in said:
        return side == "larger"
    return (column.name.lower(), _OTHER[side]) in sides


def _sides(asked: SchemaQuestion) -> set[tuple[str, Side]]:
    """On which side of a comparison a rule has a column; one on both sides is left out."""
    found: set[tuple[str, Side]] = set()
    for text in (asked.question, *(rule.text for rule in asked.rules)):
        for name in {*asked.named(text)}:
            for side, pattern in _SIDES.items():
                if re.search(pattern.format(name), text, re.I):
                    found.add((name, side))
    return {one for one in found if (one[0], _OTHER[one[1]]) not in found}


def _wrong_values(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Values that the query takes where they are left out, or leaves out where they count."""
    wanted = [(t, c, v, is_denied(v, asked.question)) for t, c, v in asked.spoken(asked.question)]
    for rule in asked.rules:
        wanted += [(t, c, v, rule.excludes) for t, c, v in asked.spoken(rule.text)]
        for name, value in _EQUATION.findall(rule.text):
            homes = asked.catalogue.homes(name.lower())
            wanted += [(home, name, value, rule.excludes) for home in homes]
    for table, column, value, excluded in wanted:
        is_tested = query.tests(table, column)
        if is_tested and (value.casefold() in query.taken(table.lower(), column)) == excluded:
            yield f"It takes {value!r} the other way round."
    for table, column in query.tested():
        values = {*asked.values(asked.catalogue.name(table), column)} if table else set()
        is_flag = bool(values) and values <= {"0", "1"} and column in asked.named(asked.question)
        if is_flag and query.taken(table, column) != {"1"}:
            yield f"It takes {column} the other way round."


def _wrong_gaps(query: RankingQuery, asked: SchemaQuestion) -> Iterator[str]:
    """Columns that are to be empty and are asked to be filled, or the other way round."""
    for rule in asked.rules:
        for name in {*asked.named(rule.body)}:
            filled = _is_filled(asked, rule, name)
            if filled is not None and (not filled) in query.asks_filled(name):
                yield f"It takes {name} the other way round."


def _is_filled(asked: SchemaQuestion, rule: Rule, name: str) -> bool | None:
    """Whether what is asked for has a value in a column; None where that is not said."""
    lacks = re.search(rf"\b(?:without|with no|no) (?:\w+ ){{0,3}}{name}\b", rule.body, re.I)
    has = re.search(rf"\b(?:with|has) (?:a |an )?\w+ in {name}\b", rule.body, re.I)
    if not (lacks or has) or rule.leaves_out_gaps:
        return None
    if not rule.term:  # it marks what another rule leaves out
        leaves_out = any(r.excludes and not r.leaves_out_gaps for r in asked.rules)
        return bool(lacks) == leaves_out
    others = (r.body for r in asked.rules if r is not rule and not _NONE.search(r.body))
    spoken: set[bool] = set()
    for text in (asked.question, *others):
        spoken = spoken or {
            is_denied(word, text) != rule.excludes
            for word in re.findall(r"[^\W\d]\w*", text)
            if stem(word) in stems(rule.term)
        }
    if rule.others and rule.others in asked.question:
        spoken = {True}
    return bool(has) != spoken.pop() if len(spoken) == 1 else None
