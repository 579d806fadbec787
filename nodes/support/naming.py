"""Naming: the names of the values of facts, for the calculator and for prompts."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from planweave.memory import Fact, Value
from planweave.tools import CalculationFailed, calculate, is_unit
from planweave.tools.calculator import Given

_DIGITS = re.compile(r"-?\d+(?:\.\d+)?(?= )")


def named_values(facts: Sequence[Fact]) -> dict[str, Given]:
    """The values of facts by name; a value with a unit is a text, such as ``40 $``.

    ``f1`` is the only number of fact [1], or the result of its calculation. ``f1_price`` is a named
    value of that fact, a step of its calculation, or a column of its table, as a list.
    """
    return {name: value for fact in facts for name, value in _name_values(fact)}


def _name_values(fact: Fact) -> Iterator[tuple[str, Given]]:
    prefix = f"f{fact['number']}"
    for step in fact.get("working", []):
        if step["name"] and step["result"] not in ("true", "false"):
            yield f"{prefix}_{step['name']}", step["result"]
    table = fact.get("table")
    if table and table["complete"] and len(table["rows"]) > 1:
        for place, column in enumerate(table["columns"]):
            cells = [_to_number(row[place], fact) for row in table["rows"]]
            numeric = [cell for cell in cells if cell is not None]
            if len(numeric) == len(cells):
                yield f"{prefix}_{_to_identifier(column)}", numeric
    numbers = {
        column: number
        for column, value in fact["values"].items()
        if column != "unit" and (number := _to_number(value, fact)) is not None
    }
    for column, number in numbers.items():
        yield f"{prefix}_{_to_identifier(column)}", number
    if "value" in numbers or len(numbers) == 1:
        yield prefix, _add_unit(numbers.get("value", next(iter(numbers.values()))), fact)


def _to_identifier(column: str) -> str:
    """A column name as a Python identifier; NFKC, since Python reads m² as m2."""
    return re.sub(r"\W+", "_", unicodedata.normalize("NFKC", column)).strip("_")


def _to_number(value: Value, fact: Fact) -> float | str | None:
    """A number, or the text of a number with a unit; None for everything else.

    A value of a page with an unknown unit becomes the number alone.
    """
    match value:
        case bool() | None:
            return None
        case str():
            if _is_quantity(value):
                return value
            digits = _DIGITS.match(value) if fact["quote"] else None
            return float(digits[0]) if digits else None
    return value


@lru_cache(maxsize=1_000)
def _is_quantity(text: str) -> bool:
    if not re.search(r"\d", text):
        return False
    try:
        calculation = calculate(text)
    except CalculationFailed:
        return False
    return calculation.repeats == "" and bool(calculation.unit)


def _add_unit(number: float | str, fact: Fact) -> float | str:
    """Add the unit of its fact to a number, if the calculator knows the unit."""
    unit = fact["values"].get("unit")
    is_given = isinstance(number, int | float) and (fact["quote"] or "working" in fact)
    return f"{number} {unit}" if is_given and unit and is_unit(str(unit)) else number
