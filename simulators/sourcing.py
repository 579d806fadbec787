"""Sourcing: which supplier should be dropped?

The simplest scenario has suppliers, sites, and deliveries between them. The value of dropping
supplier s is the cost of its lateness,

    Σ days_late · (20 + 0.5 · units)    over the deliveries of s,

and the largest is best.
"""

import math
import random
from collections.abc import Iterator

import numpy as np

from planweave.simulators.names import invent
from planweave.simulators.outcome import Decision, Outcome
from planweave.simulators.scenario import Case, Parameters, Scenario, generator
from planweave.simulators.scripts import declare_tables
from planweave.simulators.tables import (
    GraphMapping,
    NodeLabel,
    RelationshipType,
    Row,
    World,
)

PER_DAY, PER_UNIT = 20.0, 0.5

RULES = f"""\
A delivery that comes late costs days_late * ({PER_DAY:g} + {PER_UNIT:g} * units).
The lateness of a supplier costs the sum of this over all its deliveries.
"""

TABLES = declare_tables("""
CREATE TABLE supplier(name TEXT, PRIMARY KEY (name));
CREATE TABLE site(name TEXT, PRIMARY KEY (name));
CREATE TABLE delivery(
  id INTEGER, supplier TEXT, site TEXT, units INTEGER, unit_price REAL, days_late INTEGER,
  PRIMARY KEY (id),
  FOREIGN KEY (supplier) REFERENCES supplier (name),
  FOREIGN KEY (site) REFERENCES site (name));
""")

GRAPH = GraphMapping(
    nodes=(NodeLabel("Supplier", "supplier", "name"), NodeLabel("Site", "site", "name")),
    relationships=(
        RelationshipType("DELIVERED_TO", "delivery", ("supplier", "Supplier"), ("site", "Site")),
    ),
)


def simulate(world: World, parameters: Parameters) -> Outcome:  # noqa: ARG001 - the world has all data
    """The cost of each supplier's lateness: the value of dropping it."""
    deliveries = world["delivery"]
    by = world.places("delivery", "supplier", "supplier", "name")
    cost = deliveries.numbers("days_late") * (PER_DAY + PER_UNIT * deliveries.numbers("units"))
    value = np.bincount(by, cost, len(world["supplier"].rows)).astype(np.float64)
    return Outcome(candidates(world, {}), value, "maximise")


def candidates(world: World, parameters: Parameters) -> tuple[Decision, ...]:  # noqa: ARG001
    """Every supplier."""
    return tuple(str(name) for name in world["supplier"].values("name"))


@generator("sourcing", tries=100)
def generate(rng: random.Random, _seed: int, size: int) -> Iterator[Case]:
    """About ``size`` rows with one supplier that is clearly worst."""
    world = _make_world(rng, size)
    outcome = simulate(world, {})
    if outcome.margin > 0.01 * float(outcome.values.max()):
        yield Case(world, {})


def _make_world(rng: random.Random, size: int) -> World:
    count = min(40, 2 + math.isqrt(size) // 2)
    suppliers: list[Row] = [(name,) for name in invent(count, rng)]
    sites: list[Row] = [(name,) for name in _SITES]
    usual = {str(name): (rng.uniform(8, 12), rng.uniform(0, 3)) for (name,) in suppliers}
    deliveries: list[Row] = []
    for number in range(1, size - count - len(sites) + 1):
        # First one delivery of each supplier, so that each has one.
        name = str(suppliers[number - 1 if number <= count else rng.randrange(count)][0])
        price, late = usual[name]
        deliveries.append(
            (
                number,
                name,
                rng.choice(_SITES),
                rng.randint(5, 40),
                round(price * rng.uniform(0.9, 1.1), 2),
                max(0, round(rng.gauss(late, 1.5))),
            )
        )
    return World.filled(TABLES, (suppliers, sites, deliveries))


_SITES = ("north", "south", "west")

SCENARIO = Scenario(
    name="sourcing",
    rules=RULES,
    question="Which supplier should be dropped?",
    goal="The goal is to be rid of the lateness that costs most. Answer with the supplier's name.",
    tables=TABLES,
    graph=GRAPH,
    aim="maximise",
    candidates=candidates,
    simulate=simulate,
    generate=generate,
)
