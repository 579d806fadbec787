"""Which plant to close: by hand, and against a general linear-programming solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planweave import PlanweaveError
from planweave.simulators.distribution import RULES, TABLES, generate, simulate
from planweave.simulators.tables import Row, World


def world(plants: list[Row], customers: list[Row], routes: list[Row]) -> World:
    rows = (plants, customers, routes)
    return World.of(t.with_rows(r) for t, r in zip(TABLES, rows, strict=True))


PLANTS: list[Row] = [("a", 100.0, 10.0, 1.0), ("b", 50.0, 20.0, 2.0), ("c", 10.0, 12.0, 5.0)]
CUSTOMERS: list[Row] = [("x", 8.0, 3), ("y", 10.0, 3)]
ROUTES: list[Row] = [
    *(("a", "x", 1.0, 1), ("a", "y", 2.0, 1)),
    *(("b", "x", 3.0, 2), ("b", "y", 1.0, 3)),
    *(("c", "x", 1.0, 1), ("c", "y", 9.0, 1)),
]


def test_by_hand() -> None:
    outcome = simulate(world(PLANTS, CUSTOMERS, ROUTES), {})
    # Without a: b makes y (3 a unit) and x (5), both cheaper than c: 50 + 10 + 10·3 + 8·5.
    # Without b: y comes from a (3), 10 of 10; x from c (6): 100 + 10 + 30 + 48.
    # Without c: x from a (2), y from b (3): 100 + 50 + 16 + 30.
    assert outcome.candidates == ("a", "b", "c")
    assert outcome.values.tolist() == [130.0, 188.0, 196.0]
    assert outcome.best == "a"


def test_late_routes_and_lacking_capacity_make_a_closure_infeasible() -> None:
    late = [*ROUTES[:3], ("b", "y", 1.0, 4), *ROUTES[4:]]
    outcome = simulate(world(PLANTS, CUSTOMERS, late), {})
    # Without a nothing but c reaches y in time: 10 of c's 12 units, and b takes x.
    assert outcome.values[0] == 50 + 10 + 8 * 5 + 10 * 14
    small = [PLANTS[0], ("b", 50.0, 5.0, 2.0), ("c", 10.0, 2.0, 5.0)]
    outcome = simulate(world(small, CUSTOMERS, ROUTES), {})
    assert np.isinf(outcome.values).all()
    assert outcome.degenerate


def test_infeasible_candidates_are_never_best_and_have_infinite_regret() -> None:
    plants: list[Row] = [("a", 1.0, 30.0, 1.0), ("b", 500.0, 10.0, 2.0), ("c", 10.0, 2.0, 5.0)]
    outcome = simulate(world(plants, CUSTOMERS, ROUTES), {})
    assert outcome.best == "b"
    assert outcome.regret("a") == np.inf
    assert outcome.equivalent == ("b",)


def test_negative_amounts_and_dangling_names_are_refused() -> None:
    with pytest.raises(PlanweaveError, match="capacity is negative"):
        simulate(world([("a", 1.0, -1.0, 1.0)], CUSTOMERS, []), {})
    with pytest.raises(PlanweaveError, match="names 'z'"):
        simulate(world(PLANTS, CUSTOMERS, [("a", "z", 1.0, 1)]), {})


def test_the_rules_name_every_column() -> None:
    for table in TABLES:
        for column in table.names:
            assert column in RULES or column in ("name", "plant", "customer")


numbers = st.integers(0, 9).map(float)
amounts = st.integers(0, 30).map(float)


@given(
    st.lists(st.tuples(numbers, amounts, numbers), min_size=1, max_size=4),
    st.lists(st.tuples(amounts, st.integers(1, 3)), min_size=1, max_size=5),
    st.lists(st.tuples(numbers, st.integers(1, 4), st.booleans()), min_size=20, max_size=20),
)
def test_equals_a_linear_program(
    plants: list[tuple[float, float, float]],
    customers: list[tuple[float, int]],
    links: list[tuple[float, int, bool]],
) -> None:
    made = world(
        [(f"p{i}", *row) for i, row in enumerate(plants)],
        [(f"c{j}", *row) for j, row in enumerate(customers)],
        [
            (f"p{i}", f"c{j}", *links[i * 5 + j][:2])
            for i in range(len(plants))
            for j in range(len(customers))
            if links[i * 5 + j][2]
        ],
    )
    expected = [_program(made, closed) for closed in range(len(plants))]
    np.testing.assert_allclose(simulate(made, {}).values, expected, rtol=1e-9, atol=1e-9)


def _program(made: World, closed: int) -> float:
    from scipy.optimize import linprog

    plants, customers = made["plant"].rows, made["customer"].rows
    latest = {name: float(days) for name, _, days in customers}
    in_time = [r for r in made["route"].rows if float(r[3]) <= latest[r[1]]]
    routes = [r for r in in_time if r[0] != f"p{closed}"]
    fixed = sum(float(row[1]) for i, row in enumerate(plants) if i != closed)
    if not routes:
        return fixed if not any(row[1] for row in customers) else np.inf
    unit = {row[0]: float(row[3]) for row in plants}
    result = linprog(
        [unit[r[0]] + float(r[2]) for r in routes],
        A_ub=[[float(r[0] == row[0]) for r in routes] for row in plants],
        b_ub=[float(row[2]) for row in plants],
        A_eq=[[float(r[1] == row[0]) for r in routes] for row in customers],
        b_eq=[float(row[1]) for row in customers],
    )
    if not result.success:
        return np.inf
    assert result.fun is not None
    return fixed + result.fun


def test_generated_networks_have_infeasible_and_feasible_closures() -> None:
    feasible = [np.isfinite(simulate(*generate(seed, 200)).values).mean() for seed in range(8)]
    assert max(feasible) > 0.5
    assert min(feasible) > 0
