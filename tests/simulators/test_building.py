"""Building on an economy small enough to work out by hand."""

import numpy as np
import pytest
from cases import cases

from planweave import PlanweaveError
from planweave.simulators import building
from planweave.simulators.building import TABLES, Building, generate
from planweave.simulators.tables import Row, World

# Mine 1 makes ore from nothing; smithies 2 and 3 make tools from ore.
GOODS: list[Row] = [("ore", 0, 20.0, 20.0, 0.0), ("tools", 1, 40.0, 40.0, 100.0)]
BUILDINGS: list[Row] = [(1, "mine", 5), (2, "smithy", 5), (3, "smithy", 10)]
SUPPLY: list[Row] = [(0, 1, 50.0, 50.0, 5), (1, 2, 30.0, 15.0, 5), (1, 3, 20.0, 10.0, 10)]
DEMAND: list[Row] = [(0, 2, 60.0, 30.0, 5), (0, 3, 40.0, 20.0, 10)]


def world(
    goods: list[Row] = GOODS,
    buildings: list[Row] = BUILDINGS,
    supply: list[Row] = SUPPLY,
    demand: list[Row] = DEMAND,
) -> World:
    rows = (goods, buildings, supply, demand)
    return World.filled(TABLES, rows)


def price(base: float, demand: float, supply: float) -> float:
    return base * (1 + 0.75 * (demand - supply) / max(demand, supply))


def test_printed_rules_by_hand() -> None:
    outcome = Building(world(), "printed").simulate("tools")
    # The mine keeps 50 whatever its level; ore demand is 100, 160 (smithy 2 doubles) or 120.
    today = price(40, 100, 0.5 * 50)
    second = price(40, 100, 50 / 160 * (60 + 20))
    third = price(40, 100, 50 / 120 * (30 + 30))
    np.testing.assert_allclose(outcome.values, [today, second, third], rtol=1e-12)
    assert outcome.baseline == pytest.approx(today)
    assert outcome.candidates == (1, 2, 3)
    # 25 units in every case: nothing helps, all tie.
    assert outcome.equivalent == (1, 2, 3)
    assert outcome.best == 1
    assert outcome.degenerate


def test_annotation_counts_demand_twice() -> None:
    outcome = Building(world(), "annotation").simulate("tools")
    # TD(ore) = 100 + 100, 100 + 160, 100 + 120; tools have no buyers but people.
    values = [
        price(40, 100, 50 / total * made) for total, made in ((200, 50), (260, 80), (220, 60))
    ]
    np.testing.assert_allclose(outcome.values, values, rtol=1e-12)
    assert outcome.best == 2
    assert outcome.regret(3) == pytest.approx(values[2] - values[1])
    assert outcome.accepts("2")
    assert not outcome.accepts(3)


def test_the_start_of_supply_matters_in_the_first_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "CYCLES", 1)
    printed = Building(world(), "printed").simulate("tools")
    # One cycle: mine doubled gives TS(ore) = 100 at the start, so the smithies run in full.
    assert printed.values[0] == pytest.approx(price(40, 100, 50))
    annotated = Building(world(), "annotation").simulate("tools")
    # TS(ore) starts as 50 published + 100, TD = 200.
    assert annotated.values[0] == pytest.approx(price(40, 100, 150 / 200 * 50))


def test_several_inputs_count_by_their_mean_and_never_above_one() -> None:
    goods = [*GOODS, ("wood", 2, 10.0, 10.0, 0.0)]
    supply = [*SUPPLY, (2, 1, 500.0, 500.0, 5)]
    demand = [*DEMAND, (2, 3, 10.0, 10.0, 10)]
    outcome = Building(world(goods, supply=supply, demand=demand), "printed").simulate("tools")
    assert outcome.baseline == pytest.approx(price(40, 100, 30 * 0.5 + 20 * (0.5 + 1) / 2))


def test_ten_cycles_follow_a_chain() -> None:
    goods = [*GOODS, ("ploughs", 2, 10.0, 10.0, 10.0)]
    buildings = [*BUILDINGS, (4, "ploughwright", 5)]
    supply, demand = [*SUPPLY, (2, 4, 8.0, 1.0, 5)], [*DEMAND, (1, 4, 50.0, 1.0, 5)]
    outcome = Building(world(goods, buildings, supply, demand), "printed").simulate("ploughs")
    made = 8 * 25 / 150
    assert outcome.baseline == pytest.approx(price(10, 10, made))
    assert outcome.values[3] == pytest.approx(price(10, 10, 16 * 25 / 200))
    assert outcome.best == 4


def test_no_demand_and_no_supply_gives_the_base_price() -> None:
    goods = [*GOODS, ("air", 2, 7.0, 7.0, 0.0)]
    assert Building(world(goods)).simulate("air").values.tolist() == [7.0] * 3


def test_many_candidates_are_done_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    made, parameters = generate(3, 300)
    whole = Building(made, "printed").simulate(str(parameters["goods"]))
    monkeypatch.setattr(building, "_CHUNK", 7 * len(made["goods"].rows) ** 2)
    parts = Building(made, "printed").simulate(str(parameters["goods"]))
    np.testing.assert_allclose(whole.values, parts.values, rtol=1e-12)
    assert whole.baseline == pytest.approx(parts.baseline)


@cases(
    ({"buildings": [*BUILDINGS[:2], (3, "smithy", 0)]}, "Building 3 has no level"),
    ({"supply": [*SUPPLY, (9, 1, 1.0, 1.0, 5)]}, "goods_id names 9"),
    ({"demand": [*DEMAND, (0, 8, 1.0, 1.0, 5)]}, "building_id names 8"),
)
def test_bad_databases_are_refused(changed: dict[str, list[Row]], sentence: str) -> None:
    with pytest.raises(PlanweaveError, match=sentence):
        Building(world(**changed)).simulate("tools")
    with pytest.raises(PlanweaveError, match="no goods 'gold'"):
        Building(world()).simulate("gold")
