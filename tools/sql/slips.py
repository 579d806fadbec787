"""Slips that small models make again and again in queries, and what was meant."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from planweave.tools.linking import Values
from planweave.tools.suggest import nearest

_SORTED_LIST = re.compile(
    r"^\W*(?:which|what are|list|show|return|give)\b(?!.*\b(?:top|first|last|single|one)\b)"
    r".*\b(?:(?:ordered|sorted|ranked) (?:by|from)|in (?:de|a)scending order)\b",
    re.IGNORECASE | re.DOTALL,
)
_FEW_VALUES = 12
_CODE = 2
"""The most letters of a code."""
YES = ("y", "yes", "true", "t", "1")
NO = ("n", "no", "false", "f", "0")


class Compared(NamedTuple):
    """A column that a query compares with a text."""

    table: str
    column: str
    text: exp.Literal


def show_names(select: exp.Select, naming: Callable[[str], str]) -> list[str]:
    """Show what the rows of one table are called, where only what they are sorted by is shown."""
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
    column = exp.column(name)
    select.set("expressions", [column, *select.expressions])
    return [f"shows {name}"]


def keep_all(select: exp.Select, question: str) -> list[str]:
    """Return all rows of a sorted list that the question asks for, not the first alone."""
    limit = select.args.get("limit")
    if not limit or limit.expression.name != "1" or not _SORTED_LIST.search(question):
        return []
    select.set("limit", None)
    return ["returns all rows"]


def divide_as_real_numbers(tree: exp.Expr) -> list[str]:
    """Keep the fraction of a ratio: whole numbers divided are cut to whole numbers."""
    found = [
        division
        for division in tree.find_all(exp.Div)
        if not _is_real(division) and not division.find_ancestor(exp.Limit, exp.Offset)
    ]
    for division in found:
        one = exp.Literal.number("1.0")
        division.set("this", exp.Mul(this=one, expression=exp.paren(division.this.unnest())))
    return ["divides as real numbers"] if found else []


def _is_real(division: exp.Div) -> bool:
    if division.find(exp.Cast):
        return True
    numbers = [one.name for one in division.find_all(exp.Literal) if not one.is_string]
    return any("." in number for number in numbers)


def join_alternatives(tree: exp.Expr) -> list[str]:
    """Read ``a = 1 AND b = 2 OR b = 3`` as ``a = 1 AND (b = 2 OR b = 3)``.

    Alternatives for one column belong together, though AND binds more tightly than OR.
    """
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
        # The weekday of a date is another matter than the date.
        others = {_only_column(one) for one in rest if not one.find(exp.Func)}
        if columns or not column or column in others:
            continue
        either.replace(exp.and_(*rest, exp.paren(exp.or_(*meant))))
        changes.append(f"the alternatives for {column} belong together")
    return changes


def _only_column(node: exp.Expr) -> str:
    columns = {column.sql().lower() for column in node.find_all(exp.Column)}
    return columns.pop() if len(columns) == 1 else ""


def write_stored_values(compared: Iterable[Compared], values: Values) -> list[str]:
    """Write compared texts as the data has them: ``'mathematics'`` becomes ``'Mathematics'``."""
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


def values_not_stored(compared: Iterable[Compared], values: Values) -> Iterable[str]:
    """Say which compared texts no row holds, of columns with a few values that can be listed."""
    for table, column, text in compared:
        stored = values(table, column)
        if 0 < len(stored) <= _FEW_VALUES and text.name not in stored:
            yield f"{table}.{column} is never '{text.name}'; it is one of: {', '.join(stored)}."


def _meant(text: str, stored: Sequence[str]) -> str:
    """The stored value that is written in another case, means the same, or alone is alike.

    Where all values are codes of a letter or two, ``'Approved'`` means the only one that begins it.
    """
    word = text.casefold()
    for same in ({word}, YES if word in YES else (), NO if word in NO else ()):
        if found := [value for value in stored if value.casefold() in same]:
            return found[0] if len(found) == 1 else ""
    if len(stored) > 1 and len(word) > _CODE >= max(map(len, stored)):
        codes = [value for value in stored if word.startswith(value.casefold())]
        return codes[0] if len(codes) == 1 else ""
    close = nearest(text, stored, 2)
    return close[0] if len(close) == 1 else ""


def parsed(query: str, dialect: str) -> exp.Expr | None:
    """A query as a tree; None if it cannot be read."""
    try:
        return sqlglot.parse_one(query, read=dialect)
    except (SqlglotError, RecursionError):
        return None


def tests_of(select: exp.Select) -> list[exp.Expr]:
    """The tests that every row must meet."""
    where = select.args.get("where")
    return _parts_of(where) if where else []


def _parts_of(where: exp.Where) -> list[exp.Expr]:
    return [*where.this.flatten()] if isinstance(where.this, exp.And) else [where.this]


def bounds_of(select: exp.Select) -> list[exp.Expr]:
    """The comparisons of a column with a number that every row must meet."""
    return [
        one
        for one in tests_of(select)
        if isinstance(one, exp.GT | exp.GTE | exp.LT | exp.LTE)
        and isinstance(one.this, exp.Column)
        and one.expression.is_number
    ]


def test_by(select: exp.Select, tests: Iterable[exp.Expr]) -> None:
    """Let every row meet these tests, and no others."""
    kept = [*tests]
    select.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)


def has_value(column: exp.Expr) -> exp.Expr:
    """The test that a column has a value."""
    return exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))


def in_none_of(column: exp.Expr, rows: exp.Select) -> exp.Expr:
    """The test that no row has the value of a column."""
    return exp.Not(this=exp.In(this=column.copy(), query=exp.Subquery(this=rows)))


def values_of(test: exp.Expr) -> list[tuple[exp.Column, list[exp.Expr]]]:
    """The column that a test compares with literals, and these."""
    if isinstance(test, exp.Paren | exp.Or):
        sides = [*test.unnest().flatten()] if test.find(exp.Or) else [test.unnest()]
        found = [one for side in sides for one in values_of(side)] if len(sides) > 1 else []
        columns = {column for column, _ in found}
        if len(columns) != 1 or len(found) != len(sides):
            return []
        return [(columns.pop(), [value for _, values in found for value in values])]
    if isinstance(test, exp.EQ):
        compared = [test.expression]
    elif isinstance(test, exp.In) and not test.args.get("query"):
        compared = test.expressions
    else:
        return []
    if isinstance(test.this, exp.Column) and all(isinstance(one, exp.Literal) for one in compared):
        return [(test.this, compared)]
    return []


def sources_of(select: exp.Select) -> list[exp.Expr]:
    """What a query reads from: its FROM and its joins."""
    first = select.args.get("from_")
    return [one.this for one in (first, *(select.args.get("joins") or ())) if one]


def drop_placeholders(tree: exp.Expr) -> list[str]:
    """Leave out conditions whose value was left open, as in ``city = ?``."""
    changes = []
    for where in list(tree.find_all(exp.Where)):
        tests = _parts_of(where)
        kept = [test for test in tests if not test.find(exp.Placeholder, exp.Parameter)]
        changes += [f"without {test.sql()}" for test in tests if test not in kept]
        if kept:
            where.set("this", exp.and_(*kept))
        else:
            where.pop()
    return changes
