"""Distribution: which plant of a distribution network should be closed?

Plants make one product at a cost per unit and have a fixed cost while open. Customers want an
amount within a number of days. Routes have a cost per unit and a number of days. One plant has to
be closed. The value of closing plant k is

    Σ fixed_cost of the other plants + Σ demand · least (plant.unit_cost + route.unit_cost)

where the second sum is over the customers, and the least over the other plants with a route of
``days`` ≤ the customer's ``max_days``; infinite if a customer has none.
"""

import math
import random
from collections.abc import Iterator

import numpy as np

from planweave.errors import BadInput
from planweave.simulators.names import invent
from planweave.simulators.outcome import Decision, Outcome
from planweave.simulators.scenario import Case, Parameters, Scenario, generator
from planweave.simulators.scripts import declare_tables
from planweave.simulators.tables import (
    Floats,
    GraphMapping,
    NodeLabel,
    RelationshipType,
    Row,
    World,
)

RULES = """\
Each plant makes a unit at unit_cost; while it is open it costs fixed_cost a month, whatever it \
makes.
Each customer must receive exactly demand units a month, from one or several plants.
A route delivers from a plant to a customer at unit_cost a unit in days days. Only a route with \
days <= max_days of the customer may be used; where there is no route nothing can be delivered. \
Neither plants nor routes have a capacity.
Exactly one plant must be closed: it delivers nothing and costs nothing any more. All others stay \
open. What the customers receive is then planned anew so that the total cost is least: the \
fixed_cost of the open plants plus, for every delivered unit, the unit_cost of its plant and the \
unit_cost of its route.
A plant without which some customer's demand cannot be delivered in time must not be closed.
"""

TABLES = declare_tables("""
CREATE TABLE plant(name TEXT, fixed_cost REAL, unit_cost REAL, PRIMARY KEY (name));
CREATE TABLE customer(name TEXT, demand REAL, max_days INTEGER, PRIMARY KEY (name));
CREATE TABLE route(
  plant TEXT, customer TEXT, unit_cost REAL, days INTEGER, PRIMARY KEY (plant, customer),
  FOREIGN KEY (plant) REFERENCES plant (name),
  FOREIGN KEY (customer) REFERENCES customer (name));
""")

GRAPH = GraphMapping(
    nodes=(NodeLabel("Plant", "plant", "name"), NodeLabel("Customer", "customer", "name")),
    relationships=(
        RelationshipType("DELIVERS_TO", "route", ("plant", "Plant"), ("customer", "Customer")),
    ),
)


def _unit_costs(world: World) -> Floats:
    """Cost of a delivered unit, plants by customers; infinite if it cannot arrive in time."""
    plants, customers, routes = (world[table.name] for table in TABLES)
    if (customers.numbers("demand") < 0).any():
        raise BadInput("customer.demand is negative.", fix="Use amounts of 0 or more.")
    plant = world.places("route", "plant", "plant", "name")
    customer = world.places("route", "customer", "customer", "name")
    in_time = routes.numbers("days") <= customers.numbers("max_days")[customer]
    cost = np.full((len(plants.rows), len(customers.rows)), np.inf)
    unit = plants.numbers("unit_cost")[plant] + routes.numbers("unit_cost")
    cost[plant[in_time], customer[in_time]] = unit[in_time]
    return cost


def simulate(world: World, parameters: Parameters) -> Outcome:  # noqa: ARG001 - the world has all data
    """Total monthly cost after closing each plant; infinite if demand cannot be met in time."""
    fixed, demand = world["plant"].numbers("fixed_cost"), world["customer"].numbers("demand")
    wanted = demand > 0
    costs, values = _unit_costs(world)[:, wanted], []
    for plant, own in enumerate(fixed):
        least = np.delete(costs, plant, axis=0).min(axis=0, initial=np.inf)
        values.append(fixed.sum() - own + least @ demand[wanted])
    return Outcome(candidates(world, {}), np.array(values), "minimise")


def candidates(world: World, parameters: Parameters) -> tuple[Decision, ...]:  # noqa: ARG001
    """Every plant."""
    return tuple(str(name) for name in world["plant"].values("name"))


@generator("distribution")
def generate(rng: random.Random, _seed: int, size: int) -> Iterator[Case]:
    """About ``size`` rows with one plant that is clearly the best to close."""
    world = _make_world(rng, size)
    outcome = simulate(world, {})
    best = float(outcome.values.min())
    if np.isfinite(outcome.values).sum() >= 2 and outcome.margin > 0.002 * best:
        yield Case(world, {})


def _make_world(rng: random.Random, size: int) -> World:
    """Draw plants and customers on 1000 by 1000 km; cost and days grow with the distance."""
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
        (name, float(round(demand / count * rng.uniform(2, 8))), round(rng.uniform(8, 14), 2))
        for name in plants
    ]
    return World.filled(TABLES, (rows, customers, sorted(routes)))


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
