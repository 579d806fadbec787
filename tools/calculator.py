"""Arithmetic on named facts with units, inside bounds and without ``eval``.

An expression is cut into tokens, each number with the units behind it becomes one quantity, and
the rest is parsed by :mod:`ast` into a tree of which only a few node types are understood. All
numbers are floats, so no power can grow without end.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from planweave import PlanweaveError
from planweave.tools.suggest import nearest

if TYPE_CHECKING:
    from pint import UnitRegistry
    from pint.facets.plain import PlainQuantity, PlainUnit

    Value: TypeAlias = float | PlainQuantity[float]
    Unit: TypeAlias = PlainUnit

_MAX_CHARACTERS = 1_000
_MAX_DEPTH = 100
_MAX_EXPONENT = 1_000
_NO_NAMES: Mapping[str, float | str] = MappingProxyType({})

_WHOLE = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9]|,[0-9])|[0-9]+)"  # 1000 or 1,000
_TOKEN = re.compile(
    rf"""
      (?P<space>  \s+ )
    | (?P<number> (?:{_WHOLE}(?:\.[0-9]+)?|\.[0-9]+) (?:[eE][+-]?[0-9]{{1,4}}(?!\w))? (?![0-9_.]) )
    | (?P<name>   [^\W\d_]\w* | [$€£] )
    | (?P<mark>   \*\*|//|[-+*/%^(),\[\]\xd7\xf7\xb7\u2212] )
    """,
    re.VERBOSE,
)
_FRAME = re.compile(r"^\s*[^\W\d]\w*\s*=(?!=)|=\s*\??\s*$")  # ``cost = …`` and ``… = ?``
_MARKS = {"^": "**", "×": "*", "·": "*", "÷": "/", "−": "-", "per": "/"}  # noqa: RUF001 (typed)
_MARKS |= {"$": "USD", "€": "EUR", "£": "GBP"}
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12}
_ENERGY, _MASS = "([mass] * [length] ** 2 / [time] ** 2)", "([mass])"  # as pint names them
CURRENCIES = (
    *("USD", "EUR", "GBP", "JPY", "CNY", "KRW", "INR", "CHF", "CAD", "AUD", "NZD", "DKK", "SEK"),
    *("NOK", "PLN", "CZK", "HUF", "TRY", "BRL", "MXN", "CLP", "ZAR", "SAR", "AED", "SGD", "HKD"),
)
"""Units of money; none is turned into another."""


class CalculationFailed(PlanweaveError):
    """The expression cannot be calculated: it is malformed, out of bounds, or mixes dimensions."""

    exit_code = 4


@dataclass(frozen=True, kw_only=True)
class Calculation:
    """The result of one expression.

    Attributes:
        value: The number, in ``unit``.
        unit: The unit in short form, or an empty string for a plain number.
        text: ``expression = value unit``, for people and models.
    """

    value: float
    unit: str
    text: str


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def calculate(expression: str, names: Mapping[str, float | str] = _NO_NAMES) -> Calculation:
    """Calculate ``expression``.

    Understood: ``+ - * / // % **``, parentheses, ``min max sum abs round sqrt log exp floor
    ceil``, units behind numbers (``3 kWh``, ``3 * kWh``, ``10 USD/kWh``, ``10 USD per kWh``),
    money before them (``USD 10``, ``$10``), percentages (``5%``), thousands separators
    (``1,000``), ``thousand`` to ``trillion``, and a final ``to <unit>``. A name that the result
    is given (``cost = …``) and a final ``= ?`` are left out.

    Args:
        expression: At most 1 000 characters.
        names: Facts by name; a value is a number, or text such as ``"3.5 kWh"``.

    Raises:
        CalculationFailed: It cannot be calculated; the message says why in one sentence.
    """
    if len(expression) > _MAX_CHARACTERS:
        raise CalculationFailed(
            f"The expression has {len(expression)} characters, more than {_MAX_CHARACTERS}.",
            mend="Calculate it in parts.",
        )
    expression = _FRAME.sub("", expression).strip()
    try:
        value = _convert(*_split_target(_tokens(expression)), names)
        number, unit = _plain(value)
    except CalculationFailed:
        raise
    except ZeroDivisionError as error:
        raise CalculationFailed("The expression divides by zero.") from error
    except OverflowError as error:
        raise CalculationFailed("A number grows too large.") from error
    except (ValueError, TypeError, ArithmeticError, AttributeError) as error:  # and pint's own
        raise CalculationFailed(_sentence(error)) from error
    if not math.isfinite(number):
        raise CalculationFailed("The result is not a finite number.")
    shown = f"{number:.12g} {unit}".strip()
    return Calculation(value=number, unit=unit, text=f"{expression} = {shown}")


def is_unit(text: str) -> bool:
    """Whether ``text`` is a unit that :func:`calculate` understands, such as ``USD/kg``."""
    try:
        return bool(calculate(f"1 {text}").unit)
    except CalculationFailed:
        return False


def _tokens(expression: str) -> list[_Token]:
    """Cut the expression; refuse any character that has no meaning here."""
    tokens: list[_Token] = []
    calls: list[bool] = []  # for each open bracket: may a comma part arguments?
    position = 0
    while position < len(expression):
        match = _TOKEN.match(expression, position)
        if match is None:
            raise CalculationFailed(
                f"The calculator does not understand {expression[position:][:12]!r}.",
                mend="Use numbers, named facts, units, + - * / and functions such as max().",
            )
        position = match.end()
        kind, text = match.lastgroup or "", match.group()
        if kind == "number" and "," in text and any(calls):
            raise CalculationFailed(
                f"{text!r} may be one number or several.",
                mend="Write thousands without a comma, and a blank after each comma.",
            )
        if text in ("(", "["):
            calls.append(text == "[" or (bool(tokens) and tokens[-1].kind == "name"))
        elif text in (")", "]") and calls:
            calls.pop()
        if text in _MARKS:
            kind = "name" if _MARKS[text] in CURRENCIES else "mark"
        if kind != "space":
            tokens.append(_Token(kind, _MARKS.get(text, text.replace(",", "") or ",")))
    return _money_behind(tokens)


def _money_behind(tokens: list[_Token]) -> list[_Token]:
    """``USD 5 million`` as ``5 million USD``, so that all units stand behind their number."""
    moved: list[_Token] = []
    money: _Token | None = None
    for token, follower in zip_longest(tokens, tokens[1:]):
        if money and not (token.kind == "number" or token.text in _SCALES):
            moved.append(money)
            money = None
        if token.text in CURRENCIES and follower and follower.kind == "number":
            money = token
        else:
            moved.append(token)
    return [*moved, money] if money else moved


def _split_target(tokens: list[_Token]) -> tuple[list[_Token], list[_Token]]:
    """Part ``… to <unit>``; the second list is empty when there is no target."""
    places = [i for i, token in enumerate(tokens) if token.text == "to"]
    if not places:
        return tokens, []
    if len(places) > 1 or places[0] in (0, len(tokens) - 1):
        raise CalculationFailed("'to' must stand once, between a value and a unit.")
    return tokens[: places[0]], tokens[places[0] + 1 :]


def _convert(
    tokens: list[_Token], target: list[_Token], names: Mapping[str, float | str]
) -> "Value":
    value = _value(tokens, names)
    if not target:
        return value
    phrase, end = _unit_phrase(target, 0, {})
    if end < len(target) or not phrase:
        raise CalculationFailed(_unknown_unit(" ".join(token.text for token in target)))
    return _registry().Quantity(value).to(_unit(phrase))


def _value(tokens: list[_Token], names: Mapping[str, float | str]) -> "Value":
    source, quantities = _with_quantities(tokens, names)
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise CalculationFailed(
            "The expression is not complete arithmetic.", mend="Check operators and brackets."
        ) from error
    return _Evaluation(names, quantities).value(tree)


def _with_quantities(
    tokens: list[_Token], names: Mapping[str, float | str]
) -> tuple[str, list["Value"]]:
    """Replace every number, with its percent sign or units, by a numbered placeholder."""
    pieces: list[str] = []
    quantities: list[Value] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.kind != "number":
            pieces.append(token.text)
            continue
        number: Value = float(token.text)
        if (scale := _text(tokens, index)) in _SCALES:
            number, index = number * _SCALES[scale], index + 1
        if _is_percent(tokens, index):
            number, index = number / 100, index + 1
        start = index + (_text(tokens, index) == "*")
        phrase, end = _unit_phrase(tokens, start, names)
        if phrase:
            number, index = _registry().Quantity(number, _unit(phrase)), end
        pieces.append(f"_{len(quantities)}")
        quantities.append(number)
        if _text(tokens, index) == "of":  # "5% of 200"
            pieces.append("*")
            index += 1
    return " ".join(pieces), quantities


def _text(tokens: Sequence[_Token], index: int) -> str:
    return tokens[index].text if index < len(tokens) else ""


def _is_percent(tokens: Sequence[_Token], index: int) -> bool:
    """Whether a ``%`` at ``index`` is a percent sign: nothing that it could divide follows."""
    if _text(tokens, index) != "%":
        return False
    follower = _text(tokens, index + 1)
    return follower in ("", "of", "to", ")", "]", ",", "+", "-", "*", "/", "//", "**")


def _unit_phrase(
    tokens: Sequence[_Token], start: int, names: Mapping[str, float | str]
) -> tuple[str, int]:
    """Read ``USD/kWh``, ``m**2``, ``kg m`` … from ``start``; return it and where it ends.

    A bare word elsewhere is never a unit: a missing fact called TS must not become terasecond.
    """
    phrase, index, link = "", start, ""
    while True:
        word = tokens[index] if index < len(tokens) else _Token("", "")
        is_unit = word.kind == "name" and word.text not in names
        if not is_unit or _text(tokens, index + 1) == "(" or not _is_unit(word.text):
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


class _Evaluation:
    """Walks the tree; every node type that is not named here is refused."""

    def __init__(self, names: Mapping[str, float | str], quantities: Sequence["Value"]) -> None:
        self._names = names
        self._quantities = quantities

    def value(self, node: ast.expr, depth: int = 0) -> "Value":
        if depth > _MAX_DEPTH:
            raise CalculationFailed(
                f"The expression is nested more than {_MAX_DEPTH} deep.",
                mend="Calculate it in parts, or use sum() for many terms.",
            )
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
            inner = self.value(node.operand, depth + 1)
            return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = self.value(node.left, depth + 1), self.value(node.right, depth + 1)
            return _real(_OPERATORS[type(node.op)](left, right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            arguments = [v for item in node.args for v in self._values(item, depth + 1)]
            return _call(node.func.id, arguments)
        raise CalculationFailed(
            "The expression holds something that is not arithmetic.",
            mend="Use numbers, named facts, units, + - * / and functions such as max().",
        )

    def _values(self, node: ast.expr, depth: int) -> list["Value"]:
        """The values of one argument: a list in brackets counts as several."""
        if isinstance(node, ast.List | ast.Tuple):
            return [self.value(item, depth + 1) for item in node.elts]
        return [self.value(node, depth)]

    def _named(self, name: str) -> "Value":
        if name.startswith("_"):
            return self._quantities[int(name[1:])]
        if name not in self._names:
            raise CalculationFailed(_unknown(name, self._names))
        value = self._names[name]
        if isinstance(value, str):
            return _fact(name, value)
        if not math.isfinite(value):
            raise CalculationFailed(f"The fact {name} is not a finite number.")
        return float(value)


def _fact(name: str, text: str) -> "Value":
    """The value of a fact that is given as text, such as ``3.5 kWh``."""
    if len(text) > _MAX_CHARACTERS:
        raise CalculationFailed(f"The fact {name} is not a number with a unit.")
    try:
        return _value(_tokens(text), _NO_NAMES)
    except CalculationFailed as error:
        raise CalculationFailed(f"The fact {name} is not a number with a unit.") from error


def _power(base: "Value", exponent: "Value") -> "Value":
    size, unit = _plain(exponent)
    if unit or abs(size) > _MAX_EXPONENT:
        raise CalculationFailed(
            f"An exponent must be a plain number between -{_MAX_EXPONENT} and {_MAX_EXPONENT}."
        )
    raised: Value = base**size
    return raised


def _real(value: "Value") -> "Value":
    if isinstance(getattr(value, "magnitude", value), complex):
        raise CalculationFailed("The root of a negative number is not a real number.")
    return value


_OPERATORS: Mapping[type[ast.operator], Callable[["Value", "Value"], "Value"]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}


def _call(name: str, arguments: list["Value"]) -> "Value":
    if name in _REDUCING and arguments:
        return _REDUCING[name](arguments)
    if name == "abs" and len(arguments) == 1:
        return max(arguments[0], -arguments[0])
    if name == "sqrt" and len(arguments) == 1:
        return _real(arguments[0] ** 0.5)
    if name in _ROUNDING and 1 <= len(arguments) <= 1 + (name == "round"):
        return _rounded(name, *arguments)
    if name in _PURE and 1 <= len(arguments) <= 1 + (name == "log"):
        return _PURE[name](*(_pure(name, argument) for argument in arguments))
    functions = [*_REDUCING, "abs", "sqrt", *_ROUNDING, *_PURE]
    if name in functions:
        raise CalculationFailed(f"{name}() does not take {len(arguments)} arguments.")
    raise CalculationFailed(
        f"There is no function {name}().", mend=f"Known are: {', '.join(sorted(functions))}."
    )


_REDUCING: Mapping[str, Callable[[list["Value"]], "Value"]] = {
    "min": min,
    "max": max,
    "sum": lambda values: reduce(operator.add, values),
}
_PURE: Mapping[str, Callable[..., float]] = {"log": math.log, "exp": math.exp}
_ROUNDING: Mapping[str, Callable[[float], int]] = {
    "round": round,
    "floor": math.floor,
    "ceil": math.ceil,
}


def _rounded(name: str, value: "Value", digits: "Value | None" = None) -> "Value":
    places = 0 if digits is None else int(_pure(name, digits))
    if abs(places) > 15:
        raise CalculationFailed("round() keeps 15 decimal places at most.")
    number = _magnitude(value)
    rounded = float(round(number, places) if name == "round" else _ROUNDING[name](number))
    if isinstance(value, float):
        return rounded
    quantity: Value = _registry().Quantity(rounded, value.units)
    return quantity


def _pure(name: str, value: "Value") -> float:
    number, unit = _plain(value)
    if unit:
        raise CalculationFailed(f"{name}() needs a plain number, not one in {unit}.")
    return number


def _magnitude(value: "Value") -> float:
    return value if isinstance(value, float) else float(value.magnitude)


def _plain(value: "Value") -> tuple[float, str]:
    """Number and unit in short form; a ratio of like units (km/m) becomes a plain number."""
    if isinstance(value, float):
        return value, ""
    if value.dimensionless:
        return float(value.to("dimensionless").magnitude), ""
    value = value.to_reduced_units() if len(list(value.unit_items())) > 1 else value
    return float(value.magnitude), f"{value.units:~C}".replace("**", "^").replace("*", "·")


@lru_cache(maxsize=1)
def _registry() -> "UnitRegistry[float]":
    """Pint's units and a few currencies, which do not convert into each other."""
    from pint import UnitRegistry

    registry: UnitRegistry[float] = UnitRegistry(autoconvert_offset_to_baseunit=False)
    for currency in CURRENCIES:
        registry.define(f"{currency} = [{currency}]")
    registry.define("unit = [] = _ = piece = item")  # else "units" would be micronits
    return registry


def _is_unit(word: str) -> bool:
    try:
        return word in _registry()
    except (ValueError, TypeError, AttributeError, AssertionError):  # pint's, on odd letters
        return False


def _unit(phrase: str) -> "Unit":
    return _registry().Unit(phrase)


def _unknown(name: str, names: Mapping[str, float | str]) -> str:
    if close := nearest(name, names):
        return f"There is no fact named {name}; did you mean {' or '.join(close)}?"
    if _is_unit(name):
        return f"{name} is a unit and must follow a number, as in 1 {name}."
    if not names:
        return f"There is no fact named {name}, as none is known: write the numbers themselves."
    return f"There is no fact named {name}; known are {', '.join(list(names)[:12])}."


def _unknown_unit(text: str) -> str:
    close = nearest(text, ("kWh", "MWh", "km", "kg", "tonne", "hour", "day", "year", *CURRENCIES))
    return f"{text} is not a unit" + (f"; did you mean {' or '.join(close)}?" if close else ".")


def _sentence(error: Exception) -> str:
    text = str(error).split("\n", 1)[0].rstrip(". ") + "."
    if _ENERGY in text and _MASS in text:  # as when a fuel is turned from kWh into kg
        return (
            f"{text} Only a heating value (energy per mass) joins the two: take the one that the "
            "source or the user gives, lower or higher, and multiply or divide by it."
        )
    return text
