"""Evaluates one expression: walks its syntax tree with a limited amount of work."""

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from planweave.tools.calculator.quantities import split_target, tokens_of, with_placeholders
from planweave.tools.calculator.units import (
    CalculationFailed,
    converted,
    in_unit,
    magnitude,
    names_unit,
    plain,
)
from planweave.tools.suggest import nearest

if TYPE_CHECKING:
    from planweave.tools.calculator.units import Quantity

    Value: TypeAlias = bool | Quantity | list[bool | Quantity]

Given: TypeAlias = float | str | Sequence[float | str]
"""A fact: a number, a text such as ``"3.5 kWh"``, or several of them."""

_MAX_DEPTH = 100
_MAX_EXPONENT = 1_000
_MAX_FACT = 4_000
_MAX_WORK = 10_000
_OTHER = "The expression holds something that is not arithmetic."
_USE = "Use numbers, named facts, units, + - * / and functions such as max()."


class WorkBudget:
    """The remaining work of a calculation; all its expressions share it."""

    def __init__(self) -> None:
        self._left = _MAX_WORK

    def count(self, depth: int) -> None:
        """Count one node of a tree at this depth."""
        self._left -= 1
        if self._left < 0:
            raise CalculationFailed(
                f"The calculation takes more than {_MAX_WORK:,} operations.",
                fix="Calculate it in parts.",
            )
        if depth > _MAX_DEPTH:
            raise CalculationFailed(
                f"The expression is nested more than {_MAX_DEPTH} deep.",
                fix="Calculate it in parts, or use sum() for many terms.",
            )


def evaluate(
    expression: str, facts: Mapping[str, Given], known: Mapping[str, "Value"], work: WorkBudget
) -> tuple["Value", str | None]:
    """The value of an expression, and its source if it only repeats one.

    The source is a name, ``""`` for a number, or None if the value was computed. Results of earlier
    expressions (``known``) hide facts of the same name.

    Raises:
        CalculationFailed: It cannot be calculated; the message gives the reason in one sentence.
    """
    try:
        tokens, target = split_target(tokens_of(expression))
        loops = {name.text for word, name in pairwise(tokens) if word.text == "for"}
        source, quantities = with_placeholders(tokens, {*facts, *known, *loops})
        tree = _tree(source)
        value = _Walk(facts, known, quantities, work).value(tree)
        if target:
            value = converted(_number(value), target)
        _check_finite(value)
    except CalculationFailed:
        raise
    except ZeroDivisionError as error:
        raise CalculationFailed("The expression divides by zero.") from error
    except OverflowError as error:
        raise CalculationFailed("A number grows too large.") from error
    except RecursionError as error:  # from pint, for a unit of hundreds of words
        raise CalculationFailed("A unit is too long.") from error
    except (ValueError, TypeError, ArithmeticError, AttributeError) as error:  # also pint's errors
        raise _failed(error) from error
    if not isinstance(tree, ast.Name) or target:
        return value, None
    return value, "" if tree.id.startswith("_") else tree.id


def _tree(source: str) -> ast.expr:
    try:
        return ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise CalculationFailed(
            "The expression is not complete arithmetic.", fix="Check operators and brackets."
        ) from error


class _Walk:
    """Walks the tree; every node type without a method here is refused."""

    def __init__(
        self,
        facts: Mapping[str, Given],
        known: Mapping[str, "Value"],
        quantities: Sequence["Quantity"],
        work: WorkBudget,
    ) -> None:
        self._facts = facts
        self._known = dict(known)
        self._quantities = quantities
        self._work = work

    def value(self, node: ast.expr, depth: int = 0) -> "Value":
        """The value of a node at this depth."""
        self._work.count(depth)
        evaluated = _NODES.get(type(node))
        if evaluated is None:
            raise CalculationFailed(_OTHER, fix=_USE)
        return evaluated(self, node, depth)

    def _unary(self, node: ast.UnaryOp, depth: int) -> "Value":
        if isinstance(node.op, ast.Not):
            return not self._condition(node.operand, depth)
        if isinstance(node.op, ast.Invert):
            raise CalculationFailed(_OTHER, fix=_USE)
        inner = self._number(node.operand, depth)
        return -inner if isinstance(node.op, ast.USub) else inner

    def _binary(self, node: ast.BinOp, depth: int) -> "Value":
        if type(node.op) not in _OPERATORS:
            raise CalculationFailed(_OTHER, fix=_USE)
        left, right = self._number(node.left, depth), self._number(node.right, depth)
        return _check_real(_OPERATORS[type(node.op)](left, right))

    def _both(self, node: ast.BoolOp, depth: int) -> bool:
        conditions = (self._condition(one, depth) for one in node.values)
        return all(conditions) if isinstance(node.op, ast.And) else any(conditions)

    def _chosen(self, node: ast.IfExp, depth: int) -> "Value":
        chosen = node.body if self._condition(node.test, depth) else node.orelse
        return self.value(chosen, depth + 1)

    def _list(self, node: ast.List, depth: int) -> "Value":
        return [self._single(item, depth) for item in node.elts]

    def _each(self, node: ast.ListComp | ast.GeneratorExp, depth: int) -> "Value":
        return list(self._items(node, depth))

    def _item(self, node: ast.Subscript, depth: int) -> "Value":
        values, place = self.value(node.value, depth + 1), self._number(node.slice, depth)
        if not isinstance(values, list):
            raise CalculationFailed("Only a list has items.")
        if place not in range(len(values)):
            raise CalculationFailed(f"The list has {len(values)} items, counted from 0.")
        return values[int(place)]

    def _called(self, node: ast.Call, depth: int) -> "Value":
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise CalculationFailed(_OTHER, fix=_USE)
        return _call(node.func.id, self._arguments(node.args, depth))

    def _number(self, node: ast.expr, depth: int) -> "Quantity":
        return _number(self.value(node, depth + 1))

    def _single(self, node: ast.expr, depth: int) -> "bool | Quantity":
        value = self.value(node, depth + 1)
        if isinstance(value, list):
            raise CalculationFailed("A list may hold numbers and comparisons, but no other list.")
        return value

    def _condition(self, node: ast.expr, depth: int) -> bool:
        value = self.value(node, depth + 1)
        if not isinstance(value, bool):
            raise CalculationFailed(
                "A condition must be a comparison.", fix="Write it as in: 30 if f1 > 50 else 0"
            )
        return value

    def _compared(self, node: ast.Compare, depth: int) -> bool:
        left = self._number(node.left, depth)
        for mark, right_node in zip(node.ops, node.comparators, strict=True):
            if type(mark) not in _COMPARISONS:
                raise CalculationFailed(
                    "The calculator compares by <, <=, >, >=, == and != only.",
                )
            right = self._number(right_node, depth)
            if not _COMPARISONS[type(mark)](_order(left, right)):
                return False
            left = right
        return True

    def _items(
        self, node: ast.ListComp | ast.GeneratorExp, depth: int
    ) -> Iterator["bool | Quantity"]:
        """The values of ``[… for name in list if …]``."""
        loop = node.generators[0]
        name = loop.target
        if len(node.generators) > 1 or loop.is_async or not isinstance(name, ast.Name):
            raise CalculationFailed("Only one 'for name in list' may be written in a list.")
        if name.id.startswith("_"):
            raise CalculationFailed("A number cannot be the name behind 'for'.")
        hidden = self._known.get(name.id)
        for item in _items(self.value(loop.iter, depth + 1)):
            self._known[name.id] = item
            if all(self._condition(one, depth) for one in loop.ifs):
                yield self._single(node.elt, depth)
        if hidden is None:
            self._known.pop(name.id, None)
        else:
            self._known[name.id] = hidden

    def _arguments(self, nodes: Sequence[ast.expr], depth: int) -> list["bool | Quantity"]:
        """The values of all arguments; a list counts as several."""
        found: list[bool | Quantity] = []
        for node in nodes:
            if isinstance(node, ast.Tuple):
                found += [self._single(item, depth) for item in node.elts]
                continue
            value = self.value(node, depth + 1)
            found += value if isinstance(value, list) else [value]
        return found

    def _named(self, node: ast.Name, _: int) -> "Value":
        name = node.id
        if name.startswith("_"):
            return self._quantities[int(name[1:])]
        if name in self._known:
            return self._known[name]
        if name not in self._facts:
            raise CalculationFailed(_unknown(name, [*self._known, *self._facts]))
        return _given(name, self._facts[name])


_NODES: Mapping[type[ast.expr], Callable[[_Walk, Any, int], "Value"]] = {
    ast.Name: _Walk._named,
    ast.UnaryOp: _Walk._unary,
    ast.BinOp: _Walk._binary,
    ast.Compare: _Walk._compared,
    ast.BoolOp: _Walk._both,
    ast.IfExp: _Walk._chosen,
    ast.List: _Walk._list,
    ast.ListComp: _Walk._each,
    ast.GeneratorExp: _Walk._each,
    ast.Subscript: _Walk._item,
    ast.Call: _Walk._called,
}


def _given(name: str, value: Given) -> "Value":
    if isinstance(value, str):
        return _fact(name, value)
    if isinstance(value, Sequence):
        return [_number(_given(name, one)) for one in value]
    if not math.isfinite(value):
        raise CalculationFailed(f"The fact {name} is not a finite number.")
    return float(value)


def _fact(name: str, text: str) -> "Value":
    """The value of a fact in text form, such as ``3.5 kWh``."""
    problem = f"The fact {name} is not a number with a unit."
    if len(text) > _MAX_FACT:
        raise CalculationFailed(problem)
    try:
        source, quantities = with_placeholders(tokens_of(text), ())
        return _Walk({}, {}, quantities, WorkBudget()).value(_tree(source))
    except CalculationFailed as error:
        raise CalculationFailed(problem) from error


# -- values ----------------------------------------------------------------------------------------


def _items(value: "Value") -> "list[bool | Quantity]":
    if not isinstance(value, list):
        raise CalculationFailed("Only a list can be written behind 'in'.")
    return value


def _number(value: "Value") -> "Quantity":
    """The value as one number; a true comparison is 1."""
    if isinstance(value, list):
        raise CalculationFailed(
            "A list is used where one number must be.",
            fix="Use sum(), max(), min() or count(), or a list such as [x * 2 for x in f1_price].",
        )
    return float(value) if isinstance(value, bool) else value


def _order(left: "Quantity", right: "Quantity") -> int:
    """Compare two quantities: -1 for less, 0 for equal up to rounding, 1 for more.

    Plain zero can be compared with every unit.
    """
    units = next((one.units for one in (left, right) if not isinstance(one, float)), None)
    one, other = (
        magnitude(value if units is None or value == 0 else converted(value, units))
        for value in (left, right)
    )
    if math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12):
        return 0
    return -1 if one < other else 1


def _check_finite(value: "Value") -> None:
    for one in value if isinstance(value, list) else [value]:
        if not math.isfinite(magnitude(_number(one))):
            raise CalculationFailed("The result is not a finite number.")


def _power(base: "Quantity", exponent: "Quantity") -> "Quantity":
    size, unit = plain(exponent)
    if unit or abs(size) > _MAX_EXPONENT:
        raise CalculationFailed(
            f"An exponent must be a plain number between -{_MAX_EXPONENT} and {_MAX_EXPONENT}."
        )
    raised: Quantity = base**size
    return raised


def _check_real(value: "Quantity") -> "Quantity":
    if isinstance(getattr(value, "magnitude", value), complex):
        raise CalculationFailed("The root of a negative number is not a real number.")
    return value


_OPERATORS: Mapping[type[ast.operator], Callable[["Quantity", "Quantity"], "Quantity"]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int], bool]] = {
    ast.Lt: lambda order: order < 0,
    ast.LtE: lambda order: order <= 0,
    ast.Gt: lambda order: order > 0,
    ast.GtE: lambda order: order >= 0,
    ast.Eq: lambda order: order == 0,
    ast.NotEq: lambda order: order != 0,
}


# -- functions -------------------------------------------------------------------------------------


def _call(name: str, arguments: Sequence["bool | Quantity"]) -> "Value":
    if name not in _FUNCTIONS:
        raise CalculationFailed(
            f"There is no function {name}().", fix=f"Known are: {', '.join(sorted(_FUNCTIONS))}."
        )
    function, fewest, most = _FUNCTIONS[name]
    if not fewest <= len(arguments) <= most:
        raise CalculationFailed(f"{name}() does not take {len(arguments)} arguments.")
    if name == "count":
        return _counted(arguments)
    return function(*(_number(one) for one in arguments))


def _counted(values: Sequence["bool | Quantity"]) -> float:
    """The number of values; of comparisons, the number of true ones."""
    if values and all(isinstance(one, bool) for one in values):
        return float(sum(map(bool, values)))
    return float(len(values))


def _with_unit_of(value: "Quantity", number: float) -> "Quantity":
    return float(number) if isinstance(value, float) else in_unit(float(number), str(value.units))


def _rounded(value: "Quantity", digits: "Quantity" = 0.0) -> "Quantity":
    places = int(_plain_number("round", digits))
    if abs(places) > 15:
        raise CalculationFailed("round() keeps 15 decimal places at most.")
    return _with_unit_of(value, round(magnitude(value), places))


def _plain_number(name: str, value: "Quantity") -> float:
    number, unit = plain(value)
    if unit:
        raise CalculationFailed(f"{name}() needs a plain number, not one in {unit}.")
    return number


def _log(*values: float) -> float:
    if min(values) <= 0:
        raise CalculationFailed("log() needs numbers above zero.")
    return math.log(*values)


_MANY = math.inf
_FUNCTIONS: Mapping[str, tuple[Callable[..., "Quantity"], int, float]] = {
    "min": (lambda *values: min(values), 1, _MANY),
    "max": (lambda *values: max(values), 1, _MANY),
    "sum": (lambda *values: reduce(operator.add, values, 0.0), 0, _MANY),
    "count": (lambda *values: float(len(values)), 0, _MANY),
    "abs": (lambda value: max(value, -value), 1, 1),
    "sqrt": (lambda value: _check_real(value**0.5), 1, 1),
    "round": (_rounded, 1, 2),
    "floor": (lambda value: _with_unit_of(value, math.floor(magnitude(value))), 1, 1),
    "ceil": (lambda value: _with_unit_of(value, math.ceil(magnitude(value))), 1, 1),
    "exp": (lambda value: math.exp(_plain_number("exp", value)), 1, 1),
    "log": (lambda *values: _log(*(_plain_number("log", one) for one in values)), 1, 2),
}
"""Each function with the fewest and the most arguments that it takes."""


# -- reports of problems
# ----------------------------------------------------------------------------

_ENERGY, _MASS = "([mass] * [length] ** 2 / [time] ** 2)", "([mass])"  # as pint names them


def _unknown(name: str, names: Sequence[str]) -> str:
    if close := nearest(name, names):
        return f"There is no fact named {name}; did you mean {' or '.join(close)}?"
    if names_unit(name):
        return f"{name} is a unit and must follow a number, as in 1 {name}."
    if not names:
        return f"There is no fact named {name}, as none is known: write the numbers themselves."
    return f"There is no fact named {name}; known are {', '.join(names[:12])}."


def _failed(error: Exception) -> CalculationFailed:
    text = str(error).split("\n", 1)[0].rstrip(". ") + "."
    if _ENERGY in text and _MASS in text:  # such as a conversion of a fuel from kWh into kg
        return CalculationFailed(
            f"{text} Only a heating value (energy per mass) joins the two: take the one that the "
            "source or the user gives, lower or higher, and multiply or divide by it."
        )
    fix = "Give every number that is added or compared its unit." if "dimensionless" in text else ""
    return CalculationFailed(text, fix=fix)
