"""Naming: the names by which the calculator, and a prompt, speak of the values of facts."""

import re
from collections.abc import Sequence
from functools import lru_cache

from planweave.memory import Fact, Value
from planweave.tools import CalculationFailed, calculate

_DIGITS = re.compile(r"-?\d+(?:\.\d+)?(?= )")


def named_values(facts: Sequence[Fact]) -> dict[str, float | str]:
    """Numbers of facts by name: ``f1_price``, and ``f1`` for the only one of its fact.

    One with a unit is a text, such as ``40 $``.
    """
    names: dict[str, float | str] = {}
    for fact in facts:
        numbers = {
            name: number
            for name, value in fact["values"].items()
            if (number := _number(value)) is not None
        }
        prefix = f"f{fact['number']}"
        names |= {f"{prefix}_{_word(name)}": number for name, number in numbers.items()}
        if len(numbers) == 1:
            names[prefix] = next(iter(numbers.values()))
    return names


def _word(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_")


def _number(value: Value) -> float | str | None:
    """A number, or the text of one with its unit where the calculator knows that."""
    match value:
        case bool() | None:
            return None
        case str():
            if not (digits := _DIGITS.match(value)):
                return None
            return value if _is_quantity(value) else float(digits[0])
    return value


@lru_cache(maxsize=1_000)
def _is_quantity(text: str) -> bool:
    try:
        calculate("1 * f", {"f": text})
    except CalculationFailed:
        return False
    return True
