"""A model's proposals to begin learning with."""

import pytest
from scripted import Reply, register

from planweave.nodes.support.proposer import proposer
from planweave.simulators.registry import scenario


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ({"formulas": ["level * 2", "max(level, 1).", "levels + 1", "level level"]}, 2),
        ({"formulas": ["level", "level"]}, 1),
        ({"formulas": []}, 0),
        ("I would order by level.", 0),
    ],
)
async def test_only_formulas_over_known_names_are_taken(reply: Reply, read: int) -> None:
    made = scenario("building")
    question = made.ask(made.generate(1, 60), 1)
    asked = []

    def script(prompt: object) -> Reply:
        asked.append(str(prompt))
        return reply

    formulas = await proposer(register(script), question, ["level"])
    assert len(formulas) == read
    assert all(formula.names <= {"level"} for formula in formulas)
    assert question.prompt.splitlines()[0] in asked[0]
