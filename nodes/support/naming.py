"""Naming: the names by which the calculator, and a prompt, speak of the values of facts."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from planweave.memory import Fact, Value
from planweave.tools import CalculationFailed, calculate, is_unit
from planweave.tools.calculator import Given

_DIGITS = re.compile(r"-?\d+(?:\.\d+)?(?= )")


def named_values(facts: Sequence[Fact]) -> dict[str, Given]:
    """What the calculator may use of facts, by name; one with a unit is a text, such as ``40 $``.

    ``f1`` is the only number of fact [1], or the result of a calculation; ``f1_price`` a value
    that is named there, a step of that calculation, or a list: the column of a table.
    """
    return {name: value for fact in facts for name, value in _named(fact)}


def _named(fact: Fact) -> Iterator[tuple[str, Given]]:
    prefix = f"f{fact['number']}"
    for step in fact.get("working", []):
        if step["name"] and step["result"] not in ("true", "false"):
            yield f"{prefix}_{step['name']}", step["result"]
    table = fact.get("table")
    if table and table["complete"] and len(table["rows"]) > 1:
        for place, column in enumerate(table["columns"]):
            cells = [_number(row[place], fact) for row in table["rows"]]
            numeric = [cell for cell in cells if cell is not None]
            if len(numeric) == len(cells):
                yield f"{prefix}_{_word(column)}", numeric
    numbers = {
        column: number
        for column, value in fact["values"].items()
        if column != "unit" and (number := _number(value, fact)) is not None
    }
    for column, number in numbers.items():
        yield f"{prefix}_{_word(column)}", number
    if "value" in numbers or len(numbers) == 1:
        yield prefix, _with_unit(numbers.get("value", next(iter(numbers.values()))), fact)


def _word(column: str) -> str:
    """The column as a word of an expression, whose letters Python reads in this form (m² as m2)."""
    return re.sub(r"\W+", "_", unicodedata.normalize("NFKC", column)).strip("_")


def _number(value: Value, fact: Fact) -> float | str | None:
    """A number, or the text of one with a unit; None for everything else.

    Of what a page gives in a unit that the calculator does not know, the number alone.
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


def _with_unit(number: float | str, fact: Fact) -> float | str:
    """A number with the unit that its fact gives, where the calculator knows that."""
    unit = fact["values"].get("unit")
    is_given = isinstance(number, int | float) and (fact["quote"] or "working" in fact)
    return f"{number} {unit}" if is_given and unit and is_unit(str(unit)) else number
