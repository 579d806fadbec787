"""Mistakes that small models often make in conditions and numbers, and their corrections."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp

from planweave.tools.linking import Values
from planweave.tools.sql.tree import split_conditions
from planweave.tools.suggest import nearest

_SORTED_LIST = re.compile(
    r"^\W*(?:which|what are|list|show|return|give)\b(?!.*\b(?:top|first|last|single|one)\b)"
    r".*\b(?:(?:ordered|sorted|ranked) (?:by|from)|in (?:de|a)scending order)\b"
    r"|^(?!.*\b(?:top|single|one)\b).*[,;(]\s*(?:the )?(?:\w+est|most \w+) first\s*(?:[.?!;,)]|$)",
    re.IGNORECASE | re.DOTALL,
)
_DECIMALS = re.compile(r"(?<!with )\b(?P<digits>one|two|three|[1-6])[ -]decimals?\b", re.IGNORECASE)
_DIGITS = {"one": "1", "two": "2", "three": "3"}
_COMPUTED = (exp.Avg, exp.Sum, exp.Div, exp.Mul, exp.Sub, exp.Add)
_FEW_VALUES = 12
_LONGEST_CODE = 2
YES = ("y", "yes", "true", "t", "1")
NO = ("n", "no", "false", "f", "0")


class ComparedText(NamedTuple):
    """A text that a query compares with a column."""

    table: str
    column: str
    text: exp.Literal


def remove_limit(select: exp.Select, question: str) -> list[str]:
    """Remove ``LIMIT 1`` if the question asks for a sorted list."""
    limit = select.args.get("limit")
    if not limit or limit.expression.name != "1" or not _SORTED_LIST.search(question):
        return []
    select.set("limit", None)
    return ["returns all rows"]


def round_as_asked(select: exp.Select, question: str, dialect: str) -> list[str]:
    """Round the numbers that a query computes if the question asks for some decimals.

    Rounded numbers may be equal, so those that the query filters or ranks by stay exact.
    """
    asked = _DECIMALS.search(question)
    if not asked or select.find(exp.Round, exp.Limit, exp.Having):
        return []
    digits = asked["digits"].lower()
    group = select.args.get("group")
    keys = {key.name.lower() for key in group.expressions} if group else set()
    rounded = False
    for shown in select.expressions:
        number = shown.unalias()
        if isinstance(number.unnest(), _COMPUTED) and shown.alias.lower() not in keys - {""}:
            exact = exp.cast(number.copy(), "numeric") if dialect == "postgres" else number.copy()
            decimals = exp.Literal.number(_DIGITS.get(digits, digits))
            number.replace(exp.Round(this=exact, decimals=decimals))
            rounded = True
    return ["rounds as asked"] if rounded else []


def divide_as_real_numbers(tree: exp.Expr) -> list[str]:
    """Keep the fraction of a ratio: engines divide integers as integers."""
    found = [
        division
        for division in tree.find_all(exp.Div)
        if not _has_real_number(division) and not division.find_ancestor(exp.Limit, exp.Offset)
    ]
    for division in found:
        one = exp.Literal.number("1.0")
        division.set("this", exp.Mul(this=one, expression=exp.paren(division.this.unnest())))
    return ["divides as real numbers"] if found else []


def _has_real_number(division: exp.Div) -> bool:
    literals = division.find_all(exp.Literal)
    is_real = any("." in one.name for one in literals if not one.is_string)
    return is_real or division.find(exp.Cast) is not None


def group_alternatives(tree: exp.Expr) -> list[str]:
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
        columns = {_get_only_column(one) for one in meant}
        column = columns.pop()
        # A function, such as the weekday of a date, is a separate condition.
        others = {_get_only_column(one) for one in rest if not one.find(exp.Func)}
        if columns or not column or column in others:
            continue
        either.replace(exp.and_(*rest, exp.paren(exp.or_(*meant))))
        changes.append(f"the alternatives for {column} belong together")
    return changes


def _get_only_column(node: exp.Expr) -> str:
    columns = {column.sql().lower() for column in node.find_all(exp.Column)}
    return columns.pop() if len(columns) == 1 else ""


def write_stored_values(compared: Iterable[ComparedText], values: Values) -> list[str]:
    """Write compared texts as stored in the data: ``'mathematics'`` becomes ``'Mathematics'``."""
    changes = []
    for table, column, text in compared:
        stored = values(table, column)
        meant = _find_stored_value(text.name, stored)
        if text.name in stored or not meant:
            continue
        is_number = meant in ("0", "1")
        text.replace(exp.Literal.number(meant) if is_number else exp.Literal.string(meant))
        changes.append(f"'{text.name}' → '{meant}'")
    return changes


def find_absent_values(compared: Iterable[ComparedText], values: Values) -> Iterator[str]:
    """Report compared texts that no row has, for columns with few values."""
    for table, column, text in compared:
        stored = values(table, column)
        if text.name and 0 < len(stored) <= _FEW_VALUES and text.name not in stored:
            yield f"{table}.{column} is never '{text.name}'; it is one of: {', '.join(stored)}."


def _find_stored_value(text: str, stored: Sequence[str]) -> str:
    """Find the one stored value that differs in case, means the same, or is similar; or nothing.

    If all values are codes of one or two letters, ``'Approved'`` means the only one that begins it.
    """
    word = text.casefold()
    for same in ({word}, YES if word in YES else (), NO if word in NO else ()):
        if found := [value for value in stored if value.casefold() in same]:
            return found[0] if len(found) == 1 else ""
    if len(stored) > 1 and len(word) > _LONGEST_CODE >= max(map(len, stored)):
        close: Sequence[str] = [value for value in stored if word.startswith(value.casefold())]
    else:
        close = nearest(text, stored, 2)
    return close[0] if len(close) == 1 else ""


def remove_placeholders(tree: exp.Expr) -> list[str]:
    """Remove conditions whose value the model left open, as in ``city = ?``."""
    changes = []
    for where in list(tree.find_all(exp.Where)):
        conditions = split_conditions(where)
        kept = [one for one in conditions if not one.find(exp.Placeholder, exp.Parameter)]
        changes += [f"without {one.sql()}" for one in conditions if one not in kept]
        if kept:
            where.set("this", exp.and_(*kept))
        else:
            where.pop()
    return changes
