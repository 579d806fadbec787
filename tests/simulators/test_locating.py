"""Locating on worlds small enough to work out by hand."""

import numpy as np
import pytest
from cases import cases

from planweave import PlanweaveError
from planweave.simulators.locating import RULES, TABLES, Locating, simulate
from planweave.simulators.tables import Row, World

# a -> b, a -> h, b -> h.  "us" has its home in h; "them" in b.
NODES: list[Row] = [
    ("a", 10.0, False, 30.0, 0.0, 0.0),
    ("b", 4.0, True, 20.0, 0.0, 3.0),
    ("h", 5.0, False, 50.0, 0.0, 7.0),
]
FLOWS: list[Row] = [("a", "b", 0.0), ("a", "h", 0.0), ("b", "h", 0.0)]
COUNTRIES: list[Row] = [("us", "h", 90.0), ("them", "b", 10.0), ("rest", "a", 10.0)]
POWERS: list[Row] = [
    ("a", "us", False, False, 10.0, 10.0),
    ("a", "rest", True, False, 20.0, 20.0),
    ("b", "us", False, False, 5.0, 5.0),
    ("b", "them", True, False, 15.0, 15.0),
    ("h", "us", True, False, 30.0, 30.0),
    ("h", "them", False, False, 20.0, 20.0),
]


def world(
    nodes: list[Row] = NODES,
    flows: list[Row] = FLOWS,
    countries: list[Row] = COUNTRIES,
    powers: list[Row] = POWERS,
) -> World:
    rows = (countries, nodes, flows, powers)
    return World.filled(TABLES, rows)


def test_printed_rules_by_hand() -> None:
    outcome = Locating(world(), "printed").simulate("us", "h")
    # Nothing: out(a) = 10·10/30, half to b; IV(b) = 1.05·out/2; out(b) = (4 + IV(b))·5/20.
    out_a = 10 * 10 / 30
    iv_b = 1.05 * out_a / 2
    iv_h = 1.05 * out_a / 2 + 1.05 * (4 + iv_b) * 5 / 20
    assert outcome.baseline == pytest.approx((5 + iv_h) * 30 / 50)
    # Merchant in a (coast): power 1.05·(10 + 2) = 12.6, all of out(a) straight to h.
    out_a = 10 * 12.6 / 32.6
    in_a = (5 + 1.05 * out_a + 1.05 * 4 * 5 / 20) * 30 / 50
    # Merchant in b (inland): power 1.05·(5 + 2 + max(90 / 3, 50)) = 59.85.
    out_b = (4 + iv_b) * 59.85 / (20 + 54.85)
    in_b = (5 + 1.05 * (10 * 10 / 30) / 2 + 1.05 * out_b) * 30 / 50
    assert outcome.candidates == ("a", "b")
    np.testing.assert_allclose(outcome.values, [in_a, in_b], rtol=1e-12)
    assert outcome.best == "b"
    assert not outcome.degenerate


def test_annotation_by_hand() -> None:
    outcome = Locating(world(), "annotation").simulate("us")
    # Powers count twice, IV starts from the published 0, 3, 7, the home loses its own outflow,
    # and the inland bonus is max(50, 90).
    out_a = 10 * (10 + 2.6) / (60 + 2.6)
    out_b = (4 + 3) * 5 / 40
    iv_h = 7 + 1.05 * out_a + 1.05 * out_b
    in_a = (5 + iv_h) * (1 - 20 / 100) * 30 / 100
    out_a = 10 * 10 / 60
    lift = 1.05 * (5 + 2 + 90) - 5
    out_b = (4 + 3 + 1.05 * out_a / 2) * (5 + lift) / (40 + lift)
    iv_h = 7 + 1.05 * out_a / 2 + 1.05 * out_b
    in_b = (5 + iv_h) * (1 - 20 / 100) * 30 / 100
    np.testing.assert_allclose(outcome.values, [in_a, in_b], rtol=1e-12)


def test_a_merchant_where_the_country_has_no_power_changes_nothing() -> None:
    powers = [row for row in POWERS if row[:2] not in {("a", "us"), ("b", "us")}]
    outcome = Locating(world(powers=powers)).simulate("us")
    assert outcome.values.tolist() == [outcome.baseline] * 2
    assert outcome.equivalent == ("a", "b")
    assert outcome.best == "a"
    assert outcome.degenerate
    assert not outcome.improving


def test_steering_takes_the_first_destination_that_reaches_home() -> None:
    nodes = [*NODES, ("x", 1.0, False, 9.0, 0.0, 0.0), ("dead", 1.0, False, 0.0, 0.0, 0.0)]
    powers = [*POWERS, ("x", "us", False, False, 9.0, 9.0)]
    flows: list[Row] = [*FLOWS, ("x", "dead", 0.0), ("x", "b", 0.0), ("x", "a", 0.0)]
    trade = Locating(world(nodes, flows, powers=powers), "printed")
    assert trade.next_hop(trade.nodes.index("h")) == {0: 2, 1: 2, 3: 1}
    outcome = trade.simulate("us")
    # From x everything (9/9 of value 1) goes to b; without a merchant a third does.
    out_a, iv_b = 10 * 10 / 30, 1.05 * (10 * 10 / 30) / 2
    iv_h = 1.05 * out_a / 2 + 1.05 * (4 + iv_b + 1.05) * 5 / 20
    assert outcome.values[2] == pytest.approx((5 + iv_h) * 30 / 50)


def test_unreachable_home_means_no_steering_but_the_power_counts() -> None:
    flows: list[Row] = [("h", "a", 0.0), ("a", "b", 0.0)]
    outcome = Locating(world(flows=flows), "printed").simulate("us")
    np.testing.assert_allclose(outcome.values, 5 * 30 / 50)
    assert outcome.degenerate


def test_a_node_without_power_keeps_its_published_outgoing() -> None:
    nodes: list[Row] = [("a", 10.0, False, 0.0, 2.0, 0.0), *NODES[1:]]
    powers = [row for row in POWERS if row[0] != "a"]
    outcome = Locating(world(nodes, powers=powers), "printed").simulate("us")
    iv_h = 1.05 * 1 + 1.05 * (4 + 1.05 * 1) * 5 / 20
    assert outcome.baseline == pytest.approx((5 + iv_h) * 30 / 50)


@cases(
    ({"flows": [*FLOWS, ("h", "a", 0.0)]}, "cycle"),
    ({"flows": [*FLOWS, ("h", "nowhere", 0.0)]}, "nowhere"),
    ({"powers": [*POWERS, ("a", "ghost", False, False, 1.0, 1.0)]}, "ghost"),
    ({"powers": [*POWERS, ("a", "them", False, True, 1.0, 1.0)]}, "merchant"),
    ({"powers": [*POWERS, POWERS[0]]}, "two rows"),
    ({"nodes": [*NODES, ("n", float("nan"), False, 0.0, 0.0, 0.0)]}, "not a number"),
)
def test_bad_databases_are_refused(changed: dict[str, list[Row]], sentence: str) -> None:
    with pytest.raises(PlanweaveError, match=sentence):
        Locating(world(**changed)).simulate("us")


def test_bad_questions_are_refused() -> None:
    trade = Locating(world())
    with pytest.raises(PlanweaveError, match="no country 'nobody'"):
        trade.simulate("nobody")
    with pytest.raises(PlanweaveError, match="home node of us is h"):
        trade.simulate("us", "a")
    with pytest.raises(PlanweaveError, match="'country'"):
        simulate(world(), {})


def test_the_rules_state_every_number_that_the_simulator_uses() -> None:
    for number in ("1.05", "50", "development / 3", "base_trading_power + 2", "alphabetically"):
        assert number in RULES
