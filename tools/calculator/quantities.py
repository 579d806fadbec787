"""Splits an expression into tokens, and replaces each number and its unit by a placeholder."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from planweave.tools.calculator.units import (
    CURRENCIES,
    CalculationFailed,
    in_unit,
    names_unit,
    unknown_unit,
)

if TYPE_CHECKING:
    from planweave.tools.calculator.units import Quantity

_WHOLE = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9]|,[0-9])|[0-9]+)"  # 1000 or 1,000
_TOKEN = re.compile(
    rf"""
      (?P<space>  \s+ )
    | (?P<number> (?:{_WHOLE}(?:\.[0-9]+)?|\.[0-9]+) (?:[eE][+-]?[0-9]{{1,4}}(?!\w))? (?![0-9_.]) )
    | (?P<name>   [^\W\d_]\w* | [$€£] )
    | (?P<mark>   \*\*|//|[<>=!]=|[-+*/%^(),\[\]<>\xd7\xf7\xb7\u2212\u2264\u2265\u2260] )
    """,
    re.VERBOSE,
)
_DAY = re.compile(r"(?<!\w)\d{4}-(?:0\d|1[0-2])-[0-3]\d(?![\w.])", re.ASCII)
_MARKS = {"^": "**", "×": "*", "·": "*", "÷": "/", "−": "-", "per": "/"}  # noqa: RUF001 (typed)
_MARKS |= {"≤": "<=", "≥": ">=", "≠": "!=", "$": "USD", "€": "EUR", "£": "GBP"}
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12}
KEYWORDS = frozenset({"if", "else", "and", "or", "not", "for", "in", "to", "of", "per", *_SCALES})
"""Words with a meaning in expressions, which therefore cannot be names."""
_BEHIND_PERCENT = frozenset(
    {"", "of", "to", ")", "]", ",", "+", "-", "*", "/", "//", "**"}
    | {"<", ">", "<=", ">=", "==", "!=", "if", "else", "and", "or", "for"}
)


@dataclass(frozen=True)
class Token:
    """A number, name or mark."""

    kind: str
    text: str


def tokens_of(expression: str) -> list[Token]:
    """Split the expression into tokens; refuse any character without a meaning here."""
    tokens: list[Token] = []
    calls: list[bool] = []  # for each open bracket: may a comma separate arguments?
    position = 0
    while position < len(expression):
        if day := _DAY.match(expression, position):
            raise CalculationFailed(
                f"{day[0]} is a day, and no number.", fix="Write how many days it is about."
            )
        match = _TOKEN.match(expression, position)
        if match is None:
            raise CalculationFailed(
                f"The calculator does not understand {expression[position:][:12]!r}.",
                fix="Use numbers, named facts, units, + - * / and functions such as max().",
            )
        position = match.end()
        kind, text = match.lastgroup or "", match.group()
        if kind == "number" and "," in text and any(calls):
            raise CalculationFailed(
                f"{text!r} may be one number or several.",
                fix="Write thousands without a comma, and a blank after each comma.",
            )
        if text in ("(", "["):
            calls.append(text == "[" or (bool(tokens) and tokens[-1].kind == "name"))
        elif text in (")", "]") and calls:
            calls.pop()
        if text in _MARKS:
            kind = "name" if _MARKS[text] in CURRENCIES else "mark"
        if kind != "space":
            tokens.append(Token(kind, _MARKS.get(text, text.replace(",", "") or ",")))
    return _move_money_back(tokens)


def _move_money_back(tokens: list[Token]) -> list[Token]:
    """``USD 5 million`` as ``5 million USD``, so that all units follow their number."""
    moved: list[Token] = []
    money: Token | None = None
    for token, follower in zip_longest(tokens, tokens[1:]):
        if money and not (token.kind == "number" or token.text in _SCALES):
            moved.append(money)
            money = None
        if token.text in CURRENCIES and follower and follower.kind == "number":
            money = token
        else:
            moved.append(token)
    return [*moved, money] if money else moved


def split_target(tokens: list[Token]) -> tuple[list[Token], str]:
    """Separate ``… to <unit>``; the unit is empty without a target."""
    places = [i for i, token in enumerate(tokens) if token.text == "to"]
    if not places:
        return tokens, ""
    if len(places) > 1 or places[0] in (0, len(tokens) - 1):
        raise CalculationFailed("'to' must be written once, between a value and a unit.")
    target = tokens[places[0] + 1 :]
    phrase, end = _unit_phrase(target, 0, ())
    if end < len(target) or not phrase:
        raise CalculationFailed(unknown_unit(" ".join(token.text for token in target)))
    return tokens[: places[0]], phrase


def with_placeholders(
    tokens: Sequence[Token], names: Container[str]
) -> tuple[str, list["Quantity"]]:
    """Replace every number, with its percent sign or units, by ``_0``, ``_1`` and so on.

    ``names`` are words that are not units, because they name something else.
    """
    pieces: list[str] = []
    quantities: list[Quantity] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.kind != "number":
            pieces.append(token.text)
            continue
        number: Quantity = float(token.text)
        if (scale := _text(tokens, index)) in _SCALES:
            number, index = number * _SCALES[scale], index + 1
        # A ``%`` is a percent sign if nothing that it could divide follows.
        if _text(tokens, index) == "%" and _text(tokens, index + 1) in _BEHIND_PERCENT:
            number, index = number / 100, index + 1
        start = index + (_text(tokens, index) == "*")
        phrase, end = _unit_phrase(tokens, start, names)
        if phrase:
            number, index = in_unit(float(number), phrase), end
        pieces.append(f"_{len(quantities)}")
        quantities.append(number)
        if _text(tokens, index) == "of":  # "5% of 200"
            pieces.append("*")
            index += 1
    return " ".join(pieces), quantities


def _text(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].text if index < len(tokens) else ""


def _unit_phrase(tokens: Sequence[Token], start: int, names: Container[str]) -> tuple[str, int]:
    """Read ``USD/kWh``, ``m**2``, ``kg m`` … from ``start``; return the unit and its end.

    A bare word elsewhere is never a unit: a missing fact called TS must not become terasecond.
    """
    phrase, index, link = "", start, ""
    while True:
        word = tokens[index] if index < len(tokens) else Token("", "")
        is_free = word.text not in names and (word.text not in KEYWORDS or word.text == "in")
        is_unit = word.kind == "name" and is_free and names_unit(word.text)  # 62 in
        if not is_unit or _text(tokens, index + 1) == "(":
            return phrase, (index - len(link.strip())) if phrase else start
        phrase += link + word.text
        index += 1
        if _text(tokens, index) == "**" and re.fullmatch(r"[1-9]", _text(tokens, index + 1)):
            phrase += f"**{tokens[index + 1].text}"
            index += 2
        link = _text(tokens, index) if _text(tokens, index) in ("*", "/") else ""
        index += len(link)
        if not link:
            return phrase, index
