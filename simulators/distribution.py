"""Distribution: which plant of a distribution network should be closed?

A scenario from ordinary business. Plants make one product at a cost per unit, up to a capacity,
and cost something just by being open; customers want an amount within a number of days; routes
say what a unit costs on its way and how long it takes. One plant has to be closed. The value of
closing plant k is

    Σ fixed_cost of the other plants + least Σ (plant.unit_cost + route.unit_cost) · amount

over all deliveries on routes with ``days`` ≤ the customer's ``max_days`` that give each customer
its demand and take no more than its capacity from any plant; infinite if there are none.

The least cost is a transportation problem, solved exactly by successive shortest augmenting paths
between plants. It is solved once with all plants open; closing plant k leaves an optimal delivery
for everything that k did not deliver, so only k's customers are routed again.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from planweave.errors import BadInput
from planweave.simulators.names import invent
from planweave.simulators.outcome import Decision, Outcome
from planweave.simulators.scenario import Case, Parameters, Scenario, clear_case
from planweave.simulators.tables import (
    Floats,
    GraphMapping,
    Indices,
    NodeLabel,
    RelationshipType,
    Row,
    Table,
    World,
)

RULES = """\
Each plant can make up to capacity units a month at unit_cost a unit; while it is open it costs \
fixed_cost a month, whatever it makes.
Each customer must receive exactly demand units a month, from one or several plants.
A route delivers from a plant to a customer at unit_cost a unit in days days. Only a route with \
days <= max_days of the customer may be used. Routes have no capacity; where there is no route \
nothing can be delivered.
Exactly one plant must be closed: it delivers nothing and costs nothing any more. All others stay \
open. What the customers receive is then planned anew so that the total cost is least: the \
fixed_cost of the open plants plus, for every delivered unit, the unit_cost of its plant and the \
unit_cost of its route.
A plant without which some customer's demand cannot be delivered in time must not be closed.
"""

TABLES = (
    Table.of("plant", "name", name="text", fixed_cost="real", capacity="real", unit_cost="real"),
    Table.of("customer", "name", name="text", demand="real", max_days="integer"),
    Table.of(
        "route",
        "plant customer",
        plant="text plant",
        customer="text customer",
        unit_cost="real",
        days="integer",
    ),
)

GRAPH = GraphMapping(
    nodes=(NodeLabel("Plant", "plant", "name"), NodeLabel("Customer", "customer", "name")),
    relationships=(
        RelationshipType("DELIVERS_TO", "route", ("plant", "Plant"), ("customer", "Customer")),
    ),
)

_EPSILON = 1e-9
"""Amounts below this are nothing: what is left over by floating-point sums."""


@dataclass(eq=False)
class _Plan:
    """An optimal delivery of some of the demand.

    Attributes:
        cost: Cost per unit, plants by customers; infinite where nothing can go in time.
        amount: Units delivered, plants by customers.
        free: Capacity left, per plant.
        shift: shift[i, j] is the least cost, over the customers of plant i, of moving one unit
            from i to j; infinite if i delivers nothing.
        mover: The customer whose unit that is.
    """

    cost: Floats
    amount: Floats
    free: Floats
    shift: Floats
    mover: Indices

    @classmethod
    def empty(cls, cost: Floats, capacity: Floats) -> "_Plan":
        plants = len(capacity)
        shift = np.full((plants, plants), np.inf)
        mover = np.zeros((plants, plants), dtype=np.intp)
        return cls(cost, np.zeros_like(cost), capacity.copy(), shift, mover)

    def total(self) -> float:
        """Cost of what is delivered."""
        used = self.amount > 0
        return float((self.cost[used] * self.amount[used]).sum())

    def deliver(self, customer: int, wanted: float) -> bool:
        """Deliver at least cost, moving other deliveries where that is cheaper; False if not."""
        while wanted > _EPSILON:
            path = self._path(customer)
            if not path:
                return False
            wanted -= self._push(customer, path, wanted)
        return True

    def _path(self, customer: int) -> list[int]:
        """Plants on the cheapest path (Bellman-Ford) to one with free capacity."""
        distance = self.cost[:, customer].copy()
        before = np.full(len(distance), -1)
        for _ in range(len(distance)):
            through = distance[:, None] + self.shift
            source = through.argmin(axis=0)
            better = through[source, np.arange(len(distance))]
            closer = better + _EPSILON * (1 + np.abs(better)) < distance
            if not closer.any():
                break
            distance[closer], before[closer] = better[closer], source[closer]
        ends = np.where(self.free > _EPSILON, distance, np.inf)
        if not np.isfinite(ends).any():
            return []
        path = [int(ends.argmin())]
        while before[path[0]] >= 0:
            path.insert(0, int(before[path[0]]))
        return path

    def _push(self, customer: int, path: list[int], wanted: float) -> float:
        """Send along the path as much as its narrowest step allows."""
        steps = [(i, j, int(self.mover[i, j])) for i, j in pairwise(path)]
        moved = [float(self.amount[i, c]) for i, _, c in steps]
        most = min([wanted, float(self.free[path[-1]]), *moved])
        self.amount[path[0], customer] += most
        for i, j, c in steps:
            self.amount[i, c] -= most
            if self.amount[i, c] < _EPSILON:
                self.amount[i, c] = 0.0
            self.amount[j, c] += most
        self.free[path[-1]] -= most
        for plant in path:
            self._renew(plant)
        return most

    def _renew(self, plant: int) -> None:
        """Recompute the shifts out of one plant, after its deliveries have changed."""
        served = np.flatnonzero(self.amount[plant] > 0)
        self.shift[plant] = np.inf
        if len(served):
            change = self.cost[:, served] - self.cost[plant, served]
            best = change.argmin(axis=1)
            self.shift[plant] = change[np.arange(len(best)), best]
            self.mover[plant] = served[best]
        self.shift[plant, plant] = np.inf

    def without(self, plant: int) -> "_Plan":
        """The plan that is left when a plant closes: still optimal for what it delivers."""
        cost, amount, free = self.cost.copy(), self.amount.copy(), self.free.copy()
        shift = self.shift.copy()
        cost[plant], amount[plant], free[plant] = np.inf, 0.0, 0.0
        shift[plant], shift[:, plant] = np.inf, np.inf
        return replace(
            self, cost=cost, amount=amount, free=free, shift=shift, mover=self.mover.copy()
        )


@lru_cache(maxsize=32)
def _outcome(world: World) -> Outcome:
    plants, customers = world["plant"], world["customer"]
    fixed, capacity = plants.numbers("fixed_cost"), plants.numbers("capacity")
    demand = customers.numbers("demand")
    plan = _Plan.empty(_costs(world), capacity)
    served = [plan.deliver(c, float(wanted)) for c, wanted in enumerate(demand)]
    values = np.full(len(fixed), np.inf)
    if all(served):
        for plant in range(len(fixed)):
            rest = plan.without(plant)
            moved = np.flatnonzero(plan.amount[plant])
            if all(rest.deliver(int(c), float(plan.amount[plant, c])) for c in moved):
                values[plant] = fixed.sum() - fixed[plant] + rest.total()
    return Outcome(tuple(str(name) for name in plants.values("name")), values, "minimise")


def _costs(world: World) -> Floats:
    """Cost of a delivered unit, plants by customers; infinite where it cannot come in time."""
    plants, customers, routes = (world[table.name] for table in TABLES)
    for table, column in ((plants, "capacity"), (customers, "demand")):
        if (table.numbers(column) < 0).any():
            raise BadInput(f"{table.name}.{column} is negative.", fix="Use amounts of 0 or more.")
    plant = world.places("route", "plant", "plant", "name")
    customer = world.places("route", "customer", "customer", "name")
    in_time = routes.numbers("days") <= customers.numbers("max_days")[customer]
    cost = np.full((len(plants.rows), len(customers.rows)), np.inf)
    unit = plants.numbers("unit_cost")[plant] + routes.numbers("unit_cost")
    cost[plant[in_time], customer[in_time]] = unit[in_time]
    return cost


def simulate(world: World, parameters: Parameters) -> Outcome:  # noqa: ARG001 - the world says all
    """Total monthly cost after closing each plant; infinite where demand cannot be met in time."""
    return _outcome(world)


def candidates(world: World, parameters: Parameters) -> tuple[Decision, ...]:  # noqa: ARG001
    """Every plant."""
    return tuple(str(name) for name in world["plant"].values("name"))


def generate(seed: int, size: int) -> Case:
    """About ``size`` rows with one plant that is clearly best closed; see :func:`clear_case`."""

    def cases(rng: random.Random) -> Iterator[Case]:
        world = _world(rng, size)
        outcome = simulate(world, {})
        best = float(outcome.values.min())
        if np.isfinite(outcome.values).sum() >= 2 and outcome.margin > 0.002 * best:
            yield Case(world, {})

    return clear_case("distribution", seed, size, cases)


def _world(rng: random.Random, size: int) -> World:
    """Plants and customers on a map of 1000 by 1000 km; cost and days grow with the distance."""
    count = max(2 + (size >= 14), min(40, math.isqrt(size) // 3))
    plants = {name: (rng.uniform(0, 1000), rng.uniform(0, 1000)) for name in invent(count, rng)}
    customers: list[Row] = []
    routes: list[Row] = []
    near = min(count, max(2, count * 2 // 3))
    for name in invent(max(2, -(-(size - count) // (near + 1))), rng):
        place = rng.uniform(0, 1000), rng.uniform(0, 1000)
        nearest = sorted((math.dist(place, there), plant) for plant, there in plants.items())[:near]
        days = [1 + int(distance // 150) for distance, _ in nearest]
        customers.append(
            (name, float(rng.randint(5, 60)), days[min(1 + rng.randrange(4), near - 1)])
        )
        routes += [
            (plant, name, round(0.02 * distance * rng.uniform(0.9, 1.2) + 1, 2), day)
            for (distance, plant), day in zip(nearest, days, strict=True)
        ]
    demand = sum(float(amount) for _, amount, _ in customers)
    rows: list[Row] = [
        (
            name,
            float(round(demand / count * rng.uniform(2, 8))),
            float(math.ceil(demand / (count - 1) * rng.uniform(1.0, 1.8))),
            round(rng.uniform(8, 14), 2),
        )
        for name in plants
    ]
    found = (rows, customers, sorted(routes))
    return World.of(table.with_rows(part) for table, part in zip(TABLES, found, strict=True))


SCENARIO = Scenario(
    name="distribution",
    rules=RULES,
    question="Which one plant of the distribution network should be closed?",
    goal=(
        "The goal is the least total monthly cost while every customer still receives its whole "
        "demand in time. Answer with the name of the plant."
    ),
    tables=TABLES,
    graph=GRAPH,
    aim="minimise",
    candidates=candidates,
    simulate=simulate,
    generate=generate,
)
