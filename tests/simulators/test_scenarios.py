"""The plug-in: registry, generators of every size, and the example of the documentation."""

import re
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import cases

from planweave import PlanweaveError
from planweave.simulators import distribution, registry
from planweave.simulators.outcome import Outcome
from planweave.simulators.scenario import fill

NAMES = ("building", "distribution", "locating", "sourcing")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "scenarios.md"


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.SCENARIOS, "_known", dict(registry.SCENARIOS._known))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [10, 11, 17, 40, 150, 2500])
def test_worlds_of_every_size_have_one_clear_best_decision(name: str, size: int) -> None:
    scenario = registry.scenario(name)
    for seed in range(3):
        case = scenario.generate(seed, size)
        assert size * 0.7 <= case.world.rows <= size * 1.3 + 2
        outcome = scenario.simulate(*case)
        assert outcome.aim == scenario.aim
        assert len(outcome.candidates) >= 2
        assert outcome.improving
        assert not outcome.degenerate
        scale = abs(float(outcome.values[outcome.candidates.index(outcome.best)]))
        assert outcome.margin > 1e-8 * scale
        assert scenario.candidates(*case) == outcome.candidates


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_one_world_and_a_whole_question(name: str) -> None:
    scenario = registry.scenario(name)
    asked = [scenario.ask(scenario.generate(seed, 80), 3) for seed in (5, 5, 6)]
    scripts = [question.database and question.database.sql for question in asked]
    assert scripts[0] == scripts[1] != scripts[2]
    for question in asked:
        assert question.id == f"{name}-3"
        assert "{" not in question.prompt
        assert question.answer == question.simulate().best
    with pytest.raises(PlanweaveError, match="9 rows is too small"):
        scenario.generate(1, 9)


def test_published_state_of_generated_worlds_follows_from_the_rules() -> None:
    """What a database shows today is what the simulator computes without any decision."""
    scenario = registry.scenario("building")
    case = scenario.generate(4, 300)
    goods = case.world["goods"]
    for name, price in zip(goods.values("goods_name"), goods.numbers("current_price"), strict=True):
        outcome = scenario.simulate(case.world, {**case.parameters, "goods": name})
        assert outcome.baseline == pytest.approx(price, abs=1e-3)
    scenario = registry.scenario("locating")
    case = scenario.generate(4, 300)
    nodes, flow = case.world["trade_node"], case.world["flow"]
    arrived = np.zeros(len(nodes.rows))
    places = case.world.places("flow", "dest", "trade_node", "trade_node")
    np.add.at(arrived, places, 1.05 * flow.numbers("flow"))
    np.testing.assert_allclose(nodes.numbers("ingoing"), arrived, atol=1e-5)
    outcome = scenario.simulate(*case)
    home = nodes.values("trade_node").index(case.parameters["home"])
    powers = {row[:2]: float(row[4]) for row in case.world["node_country"].rows}
    power = powers[case.parameters["home"], case.parameters["country"]]
    value = nodes.numbers("local_value")[home] + nodes.numbers("ingoing")[home]
    profit = value * power / nodes.numbers("total_power")[home]
    assert outcome.baseline == pytest.approx(profit, rel=1e-4)


def test_unknown_and_double_names_are_refused() -> None:
    with pytest.raises(
        PlanweaveError, match="The scenarios are: building, distribution, locating, sourcing"
    ):
        registry.scenario("chess")
    own = registry.scenario("locating")
    assert registry.register(own) is own
    with pytest.raises(PlanweaveError, match="already a scenario 'locating'"):
        registry.register(replace(own))
    with pytest.raises(PlanweaveError, match="has no 'goods'"):
        fill("{goods}", {})


@cases(
    ("distribution:CHESS", ""),
    ("nowhere_at_all:X", "cannot be loaded"),
    ("distribution:RULES", "no scenario"),
)
def test_plug_ins_are_found_and_bad_ones_reported(
    value: str, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entries(*, group: str, name: str = "chess") -> list[EntryPoint]:
        made = EntryPoint("chess", f"planweave.simulators.{value}", group)
        return [made] if name == "chess" else []

    chess = replace(distribution.SCENARIO, name="chess")
    monkeypatch.setattr(distribution, "CHESS", chess, raising=False)
    monkeypatch.setattr("planweave.registry.entry_points", entries)
    assert "chess" in registry.SCENARIOS.names()
    if fails:
        with pytest.raises(PlanweaveError, match=fails):
            registry.scenario("chess")
    else:
        assert registry.scenario("chess") is chess


def test_the_example_of_the_documentation_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    scope: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), scope)  # the page of this repository
    question, outcome = scope["question"], scope["outcome"]
    assert registry.scenario("workshop") is scope["WORKSHOP"]
    assert question.answer == outcome.best
    assert question.candidates == outcome.candidates
    assert "REFERENCES lorry" in question.database.sql


def test_outcomes_find_ties_by_tolerance_and_refuse_emptiness() -> None:
    values = np.array([1.0, 3.0, 3.0 + 1e-12, 2.0])
    outcome = Outcome(("a", "b", "c", "d"), values, "maximise", baseline=3.0)
    assert outcome.equivalent == ("b", "c")
    assert outcome.best == "b"
    assert outcome.degenerate
    assert not outcome.improving
    assert outcome.margin == pytest.approx(0, abs=1e-11)
    assert outcome.regret("a") == pytest.approx(2)
    with pytest.raises(PlanweaveError, match="'z' is not a candidate"):
        outcome.regret("z")
    with pytest.raises(PlanweaveError, match="no candidate"):
        Outcome((), np.array([]), "minimise")
    alone = Outcome(("a",), np.array([1.0]), "minimise")
    assert alone.margin == np.inf
    assert alone.improving
