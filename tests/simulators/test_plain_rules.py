"""The simulators agree with the rules written out in plain Python."""

import plain_rules
import pytest

from planweave.simulators import registry


@pytest.mark.parametrize("semantics", ["printed", "annotation"])
@pytest.mark.parametrize("name", ["locating", "building"])
def test_both_implementations_agree_on_every_value(name: str, semantics: str) -> None:
    scenario = registry.scenario(name)
    for seed in range(4):
        world, parameters = scenario.generate(seed, 150)
        asked = {**parameters, "semantics": semantics}
        outcome = scenario.simulate(world, asked)
        plain = plain_rules.PLAIN[name](world, asked)
        assert outcome.values.tolist() == pytest.approx([plain[c] for c in outcome.candidates])
