"""Calculator: arithmetic with units on numbers and named facts."""

import re
from collections.abc import Sequence

from planweave.memory import Fact, WorkingMemory
from planweave.nodes.turns import Observation, take_turn
from planweave.tools import calculate, is_unit


def calculator(state: WorkingMemory) -> WorkingMemory:
    """Work out ``action.input``; the result becomes a fact."""
    names = named_values(state["facts"])

    def run(expression: str) -> Observation:
        if expression.strip() in names:
            return Observation("A fact by itself leaves nothing to calculate.", found=False)
        calculation = calculate(expression, names)
        given, result = calculation.text.rsplit(" = ", 1)
        if given.replace(",", "") == result:  # else a guess would become a fact
            return Observation("A number by itself leaves nothing to calculate.", found=False)
        return Observation(calculation.text, values={"value": calculation.value})

    return take_turn(state, lambda action: run(action["input"]))


def named_values(facts: Sequence[Fact]) -> dict[str, float | str]:
    """Numbers of one-row facts by name: ``f1`` for a single value, ``f1_price`` for a column."""
    names: dict[str, float | str] = {}
    for fact in facts:
        numbers = {
            column: value
            for column, value in fact["values"].items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        for column, value in numbers.items():
            name = re.sub(r"\W+", "_", column).strip("_")
            names[f"f{fact['number']}_{name}"] = value
        if len(numbers) == 1:
            names[f"f{fact['number']}"] = _with_unit(next(iter(numbers.values())), fact)
    return names


def _with_unit(number: float, fact: Fact) -> float | str:
    """A number that was read in a document, with its unit where the calculator knows that."""
    unit = fact["values"].get("unit") if fact["quote"] else ""
    return f"{number} {unit}" if unit and is_unit(str(unit)) else number
