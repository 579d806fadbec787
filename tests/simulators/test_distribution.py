"""Which plant to close, and where to buy, by hand."""

import numpy as np
import pytest

from planweave import PlanweaveError
from planweave.simulators import sourcing
from planweave.simulators.distribution import RULES, TABLES, simulate
from planweave.simulators.tables import Row, World


def world(plants: list[Row], customers: list[Row], routes: list[Row]) -> World:
    rows = (plants, customers, routes)
    return World.filled(TABLES, rows)


PLANTS: list[Row] = [("a", 100.0, 1.0), ("b", 50.0, 2.0), ("c", 10.0, 5.0)]
CUSTOMERS: list[Row] = [("x", 8.0, 3), ("y", 10.0, 3)]
ROUTES: list[Row] = [
    *(("a", "x", 1.0, 1), ("a", "y", 2.0, 1)),
    *(("b", "x", 3.0, 2), ("b", "y", 1.0, 3)),
    *(("c", "x", 1.0, 1), ("c", "y", 9.0, 1)),
]


def test_by_hand() -> None:
    outcome = simulate(world(PLANTS, CUSTOMERS, ROUTES), {})
    # Without a: x (5) and y (3) from b. Without b: x (2) and y (3) from a. Without c: as without b.
    assert outcome.candidates == ("a", "b", "c")
    assert outcome.values.tolist() == [60 + 40 + 30, 110 + 16 + 30, 150 + 16 + 30]
    assert outcome.best == "a"


def test_the_only_plant_that_reaches_a_customer_stays_open() -> None:
    late = [*ROUTES[:3], ("b", "y", 1.0, 4), *ROUTES[4:]]
    outcome = simulate(world(PLANTS, CUSTOMERS, late), {})
    assert outcome.values[0] == 60 + 8 * 5 + 10 * 14  # y from c
    alone = [row for row in late if row[:2] != ("c", "y")]
    outcome = simulate(world(PLANTS, CUSTOMERS, alone), {})
    assert np.isinf(outcome.values).tolist() == [True, False, False]
    assert outcome.regret("a") == np.inf
    outcome = simulate(world(PLANTS[:1], CUSTOMERS, ROUTES[:2]), {})
    assert np.isinf(outcome.values).all()


def test_a_customer_that_wants_nothing_costs_nothing() -> None:
    assert simulate(world(PLANTS, [("x", 0.0, 3)], []), {}).values.tolist() == [60, 110, 150]


def test_negative_amounts_and_dangling_names_are_refused() -> None:
    with pytest.raises(PlanweaveError, match="demand is negative"):
        simulate(world(PLANTS, [("x", -1.0, 3)], []), {})
    with pytest.raises(PlanweaveError, match="names 'z'"):
        simulate(world(PLANTS, CUSTOMERS, [("a", "z", 1.0, 1)]), {})


def test_the_rules_name_every_column() -> None:
    for table in TABLES:
        for column in table.names:
            assert column in RULES or column in ("name", "plant", "customer")


def deliveries(*rows: tuple[int, str, int, float, int]) -> World:
    suppliers: list[Row] = [("ash",), ("birch",), ("cedar",)]
    delivered: list[Row] = [(number, name, "north", *rest) for number, name, *rest in rows]
    return World.filled(sourcing.TABLES, (suppliers, [("north",)], delivered))


def test_days_and_units_count_together() -> None:
    made = deliveries((1, "ash", 10, 5.0, 2), (2, "ash", 30, 6.0, 0), (3, "birch", 100, 6.0, 1))
    outcome = sourcing.simulate(made, {})
    assert outcome.values == pytest.approx([2 * (20 + 0.5 * 10), 20 + 0.5 * 100, 0.0])
    assert outcome.best == "birch"
    assert outcome.regret("ash") == pytest.approx(20)
    with pytest.raises(PlanweaveError, match="nobody"):
        sourcing.simulate(deliveries((1, "nobody", 1, 1.0, 0)), {})
