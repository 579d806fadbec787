"""Sourcing, by hand."""

import pytest

from planweave import BadInput
from planweave.simulators.sourcing import TABLES, simulate
from planweave.simulators.tables import Row, World


def world(*deliveries: tuple[int, str, int, float, int]) -> World:
    rows: list[list[Row]] = [
        [("ash",), ("birch",), ("cedar",)],
        [("north",)],
        [(number, name, "north", *rest) for number, name, *rest in deliveries],
    ]
    return World.filled(TABLES, rows)


def test_days_and_units_count_together() -> None:
    outcome = simulate(
        world((1, "ash", 10, 5.0, 2), (2, "ash", 30, 6.0, 0), (3, "birch", 100, 6.0, 1)), {}
    )
    assert outcome.values == pytest.approx([2 * (20 + 0.5 * 10), 20 + 0.5 * 100, 0.0])
    assert outcome.best == "birch"
    assert outcome.regret("ash") == pytest.approx(20)


def test_a_delivery_without_a_supplier_is_refused() -> None:
    with pytest.raises(BadInput, match="nobody"):
        simulate(world((1, "nobody", 1, 1.0, 0)), {})
