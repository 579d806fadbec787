"""Calculator: arithmetic with units on numbers and named facts."""

import re
from collections.abc import Iterator, Sequence

from planweave.memory import Fact, Value, Worked, WorkingMemory
from planweave.nodes.turns import Observation, take_turn
from planweave.tools import CalculationFailed, calculate, is_unit
from planweave.tools.calculator import Given


def calculator(state: WorkingMemory) -> WorkingMemory:
    """Work out ``action.input``; the result becomes a fact that keeps every step."""
    names = named_values(state["facts"])

    def run(program: str) -> Observation:
        calculation = calculate(program, names)
        if calculation.repeats is not None:  # else a guess would become a fact
            what = "A fact" if calculation.repeats else "A number"
            return Observation(f"{what} by itself leaves nothing to calculate.", found=False)
        values: dict[str, Value] = {"value": calculation.value}
        if calculation.unit:
            values["unit"] = calculation.unit
        working = [
            Worked(name=step.name, expression=step.expression, result=step.result, note=step.note)
            for step in calculation.steps
        ]
        return Observation(calculation.text, values=values, working=working)

    return take_turn(state, lambda action: run(action["input"]))


def named_values(facts: Sequence[Fact]) -> dict[str, Given]:
    """What the calculator may use of facts, by name.

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
            cells = [number for row in table["rows"] if (number := _number(row[place])) is not None]
            if len(cells) == len(table["rows"]):
                yield f"{prefix}_{_word(column)}", cells
    numbers = {
        column: number
        for column, value in fact["values"].items()
        if (number := _number(value)) is not None
    }
    for column, number in numbers.items():
        yield f"{prefix}_{_word(column)}", number
    if "value" in numbers or len(numbers) == 1:
        yield prefix, _with_unit(numbers.get("value", next(iter(numbers.values()))), fact)


def _word(column: str) -> str:
    return re.sub(r"\W+", "_", column).strip("_")


def _number(value: Value) -> float | str | None:
    """A number, or the text of one with a unit; None for everything else."""
    if isinstance(value, str):
        return value if re.search(r"\d", value) and _is_quantity(value) else None
    return None if value is None or isinstance(value, bool) else value


def _is_quantity(text: str) -> bool:
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
