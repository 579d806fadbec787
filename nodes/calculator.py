"""Calculator: arithmetic with units on numbers and named facts."""

from planweave.memory import WorkingMemory
from planweave.nodes.naming import named_values
from planweave.nodes.turns import Observation, take_turn
from planweave.tools import calculate


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
