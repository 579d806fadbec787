"""Calculator: arithmetic with units on numbers and named facts."""

from planweave.memory import Action, Found, Value, Worked, WorkingMemory
from planweave.nodes.support.naming import named_values
from planweave.nodes.support.turns import take_turn
from planweave.tools import calculate


def calculator(state: WorkingMemory) -> WorkingMemory:
    """Calculate ``action.input``; the result becomes a fact with every step."""
    names = named_values(state["facts"])

    def run(action: Action) -> Found | str:
        calculation = calculate(action["input"], names)
        if calculation.repeats is not None:  # a guess must not become a fact
            what = "A fact" if calculation.repeats else "A number"
            return f"{what} by itself leaves nothing to calculate."
        values: dict[str, Value] = {"value": calculation.value}
        if calculation.unit:
            values["unit"] = calculation.unit
        working = [
            Worked(name=step.name, expression=step.expression, result=step.result, note=step.note)
            for step in calculation.steps
        ]
        return Found(text=calculation.text, values=values, quote=None, working=working)

    return take_turn(state, run)
