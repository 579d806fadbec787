"""Building: which building should grow by five levels so that a goods becomes cheapest?

The rules of the PlanRAG paper (arXiv 2406.12430, section 3.2, equations 4 to 6, algorithm 2) in
NumPy, for all candidates of a question at once. Notation: g goods; b a building; MD, MS its maximum
demand and supply; CO its current output; PD, BP the pop demand and base price of a goods.

Step 1. The candidate grows: f = (level + 5) / level on its MD and MS, f = 1 for all others.

Step 2, demand (equation 4): TD(g) = PD(g) + Σ f·MD(g, b).

Step 3, supply (equation 5), ten cycles. A building with inputs works at the ratio

    r(b) = mean over its inputs g of min(1, TS(g) / TD(g))          (TD(g) = 0: 1)
    CO(g, b) = f · MS(g, b) · r(b),   TS(g) = Σ CO(g, b)

and one without inputs keeps its published output. TS starts as Σ f·MS (algorithm 2).

Step 4, price (equation 6): CP(g) = BP · (1 + 0.75 · (TD - TS) / max(TD, TS)), 0/0 giving BP.

That is the **printed** semantics. The **annotation** semantics, with which the published answers
were computed, counts demand twice, once before and once after the expansion (TD = PD + Σ MD + Σ
f·MD), and starts from TS = Σ published CO + Σ f·MS.

Because r(b) is a mean of ratios, one cycle is linear in the ratios: TS = ratios · M + kept, with a
goods-by-goods matrix M that is the same for every candidate, plus the candidate's own extra output.
So the cost of a question does not depend on candidates times supply rows.

Generated worlds follow the printed semantics, and ``RULES`` describe exactly that: they lead to the
simulator's decision.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from planweave.errors import BadInput
from planweave.simulators.names import invent
from planweave.simulators.outcome import Decision, Outcome, Semantics
from planweave.simulators.scenario import (
    Case,
    Parameters,
    Scenario,
    generator,
    parameter,
    semantics_of,
)
from planweave.simulators.scripts import declare_tables
from planweave.simulators.tables import (
    Floats,
    GraphMapping,
    Indices,
    NodeLabel,
    RelationshipType,
    Row,
    World,
    sums,
)

LEVELS = 5
CYCLES = 10
_CHUNK = 200_000
"""The most multiplications per matrix product; it limits the candidates simulated together.
This bounds the memory and keeps products small enough for one thread, since more threads cost more
than they gain (measured: 0.3 ms of CPU per published question instead of 5)."""

TABLES = declare_tables("""
CREATE TABLE goods(
  goods_name TEXT, code INTEGER, base_price REAL, current_price REAL, pop_demand REAL,
  PRIMARY KEY (code));
CREATE TABLE building(id INTEGER, name TEXT, level INTEGER, PRIMARY KEY (id));
CREATE TABLE supply(
  goods_id INTEGER, building_id INTEGER, max_supply REAL, current_output REAL, level INTEGER,
  PRIMARY KEY (goods_id, building_id));
CREATE TABLE demand(
  goods_id INTEGER, building_id INTEGER, max_demand REAL, current_input REAL, level INTEGER,
  PRIMARY KEY (goods_id, building_id));
""")

GRAPH = GraphMapping(
    nodes=(
        NodeLabel("Goods", "goods", "code", {"goods_name": "name"}),
        NodeLabel("Building", "building", "id"),
    ),
    relationships=(
        RelationshipType("Supply", "supply", ("building_id", "Building"), ("goods_id", "Goods")),
        RelationshipType("Demand", "demand", ("goods_id", "Goods"), ("building_id", "Building")),
    ),
)


class Building:
    """A prepared Building database for any number of questions.

    Attributes:
        buildings: Building ids in table order.
    """

    def __init__(self, world: World, semantics: Semantics = "annotation") -> None:
        self.world = world
        self.buildings = [int(number) for number in world["building"].numbers("id")]
        self._levels = world["building"].numbers("level")
        if (self._levels <= 0).any():
            name = self.buildings[int(np.argmax(self._levels <= 0))]
            raise BadInput(
                f"Building {name} has no level above 0.",
                fix="Give every building a level of at least 1.",
            )
        self._size = len(world["goods"].rows)
        self._supplies = _Edges.read(world, "supply", "max_supply")
        self._demands = _Edges.read(world, "demand", "max_demand")
        counted_twice = semantics == "annotation"
        # TD before the expansion and TS at the start, per goods.
        wanted = sums(self._demands.goods, self._demands.amount, self._size)
        self._demand = world["goods"].numbers("pop_demand") + (1 + counted_twice) * wanted
        published = world["supply"].numbers("current_output")
        start = self._supplies.amount + published * counted_twice
        self._supply = sums(self._supplies.goods, start, self._size)
        # Number of inputs of each building, followed by a 0 for "no building".
        ones = np.ones_like(self._demands.amount)
        self._inputs = sums(self._demands.building, ones, len(self.buildings) + 1)

    @cached_property
    def _cycle(self) -> tuple[Floats, Floats]:
        """M and the kept output of one cycle: TS = ratios · M + kept.

        M[i, g] is the amount that the buildings that consume goods i would add to TS(g) if only i
        were available in full: Σ MS(g, b) / inputs(b) over those buildings.
        """
        goods, maker, full = self._supplies
        idle = self._inputs[maker] == 0
        published = self.world["supply"].numbers("current_output")
        kept = sums(goods[idle], published[idle], self._size)
        consumed: list[list[int]] = [[] for _ in self.buildings]
        for item, user in zip(*self._demands.lists(), strict=True):
            consumed[user].append(item)
        matrix = np.zeros((self._size, self._size))
        for item, user, most in zip(*self._supplies.lists(), full.tolist(), strict=True):
            for needed in consumed[user]:
                matrix[needed, item] += most / len(consumed[user])
        return matrix, kept

    def simulate(self, goods: str) -> Outcome:
        """The price of ``goods`` after each building in turn has grown by five levels."""
        names = self.world["goods"].values("goods_name")
        if goods not in names:
            raise BadInput(f"The database has no goods {goods!r}.")
        asked, count = names.index(goods), len(self.buildings)
        size = max(1, _CHUNK // self._size**2)
        chunks = [np.arange(i, min(i + size, count + 1)) for i in range(0, count + 1, size)]
        prices = np.concatenate([self._prices(chunk, asked) for chunk in chunks])
        return Outcome(tuple(self.buildings), prices[:-1], "minimise", float(prices[-1]))

    def _prices(self, chosen: Indices, asked: int) -> Floats:
        """Price of the asked goods per candidate; number ``len(buildings)`` is "none of them"."""
        shape = (len(chosen), self._size)
        more_demand = self._demands.spread(chosen, shape, LEVELS / self._levels)
        more_supply = self._supplies.spread(chosen, shape, LEVELS / self._levels)
        # Row-wise dot product with the ratios: the candidate's own r.
        own = self._demands.spread(chosen, shape) / np.maximum(self._inputs[chosen], 1)[:, None]
        demand, supply = self._demand + more_demand, self._supply + more_supply
        supply = self._settle(demand, supply, more_supply, own)
        base = float(self.world["goods"].numbers("base_price")[asked])
        return _price(base, demand[:, asked], supply[:, asked])

    def _settle(self, demand: Floats, supply: Floats, more_supply: Floats, own: Floats) -> Floats:
        """TS after the ten cycles of step 3, candidates by goods."""
        matrix, kept = self._cycle
        for _ in range(CYCLES):
            ratios = _ratios(demand, supply)
            rate = (ratios * own).sum(axis=1)
            supply = ratios @ matrix + kept + more_supply * rate[:, None]
        return supply

    def today(self) -> "Today":
        """The state by the rules if nothing grows; generators fill databases with it."""
        nothing = np.zeros((1, self._size))
        demand = self._demand[None, :]
        supply = self._settle(demand, self._supply[None, :], nothing, nothing)
        ratios = _ratios(demand, supply)[0]
        goods, building, _ = self._demands
        rates = sums(building, ratios[goods], len(self.buildings) + 1) / np.maximum(self._inputs, 1)
        rates[self._inputs == 0] = 1.0
        price = _price(self.world["goods"].numbers("base_price"), demand[0], supply[0])
        return Today(rates[:-1].tolist(), ratios.tolist(), price.tolist())


class _Edges(NamedTuple):
    """The rows of supply or demand: goods and building as row numbers, and the maximum."""

    goods: Indices
    building: Indices
    amount: Floats

    @classmethod
    def read(cls, world: World, table: str, amount: str) -> "_Edges":
        goods = world.places(table, "goods_id", "goods", "code")
        building = world.places(table, "building_id", "building", "id")
        return cls(goods, building, world[table].numbers(amount))

    def lists(self) -> tuple[list[int], list[int]]:
        return self.goods.tolist(), self.building.tolist()

    def spread(
        self, chosen: Indices, shape: tuple[int, int], factor: Floats | None = None
    ) -> Floats:
        """Amount · factor of the chosen (consecutive) buildings, or 1 without factor, by goods."""
        spread = np.zeros(shape)
        inside = (self.building >= chosen[0]) & (self.building <= chosen[-1])
        building = self.building[inside]
        value = 1.0 if factor is None else self.amount[inside] * factor[building]
        spread[building - chosen[0], self.goods[inside]] = value
        return spread


class Today(NamedTuple):
    """The state of an economy: r per building, min(1, TS/TD) and CP per goods."""

    rates: list[float]
    ratios: list[float]
    prices: list[float]


def _ratios(demand: Floats, supply: Floats) -> Floats:
    return np.divide(supply, demand, out=np.ones_like(demand), where=demand > supply)


def _price(base: Floats | float, demand: Floats, supply: Floats) -> Floats:
    """CP of equation 6."""
    larger = np.maximum(demand, supply)
    gap = np.divide(demand - supply, larger, out=np.zeros_like(demand), where=larger > 0)
    price: Floats = base * (1 + 0.75 * gap)
    return price


RULES = """\
Buildings make goods (supply) and use up goods (demand). The max_supply and max_demand of a \
building are proportional to its level: a building that grows from level to level + 5 has \
(level + 5) / level times the max_supply and the max_demand that the database shows.
The total demand of a goods is its pop_demand plus the sum of max_demand over all buildings that \
use it. Its total supply is the sum of current_output over all buildings that make it.
A building works at the mean, over the goods that it uses, of min(1, total supply / total demand) \
of that goods (1 if the goods has no demand). Its current_output of every goods it makes is \
max_supply times that mean. A building that uses no goods keeps the current_output that the \
database shows, whatever its level.
Because one building's output is another's input, outputs are computed in ten rounds: the total \
supplies start as the sums of max_supply; each round computes all outputs from the total supplies \
of the round before, and from the outputs the new total supplies.
After the tenth round, current_price = base_price * (1 + 0.75 * (demand - supply) / \
max(demand, supply)), with the total demand and total supply of the goods; it is base_price if \
both are 0.
Any building can grow, whatever it makes.
"""

_QUESTIONS_PER_WORLD = 20


_prepare = lru_cache(maxsize=64)(Building)


def simulate(world: World, parameters: Parameters) -> Outcome:
    """Price of the ``goods`` per building, by the ``semantics`` (published: annotation)."""
    return _prepare(world, semantics_of(parameters)).simulate(parameter(parameters, "goods"))


def candidates(world: World, parameters: Parameters) -> tuple[Decision, ...]:  # noqa: ARG001
    """Every building."""
    return tuple(int(number) for number in world["building"].numbers("id"))


@generator("building")
def generate(rng: random.Random, seed: int, size: int) -> Iterator[Case]:
    """About ``size`` rows and a goods with one clear best building."""
    world = _fill_in(_make_world(rng, size))
    goods = [str(name) for name in world["goods"].values("goods_name")]
    for name in rng.sample(goods, min(_QUESTIONS_PER_WORLD, len(goods))):
        parameters = {"country": f"w{seed}x{size}", "goods": name, "semantics": "printed"}
        if _is_clear(simulate(world, parameters)):
            yield Case(world, parameters)


def _is_clear(outcome: Outcome) -> bool:
    """Whether the best leads the second by 5 % of its gain, and this shows in the price."""
    gain = outcome.baseline - float(outcome.values.min())
    return outcome.improving and gain > 1e-6 * outcome.baseline and outcome.margin > 0.05 * gain


@dataclass(frozen=True)
class _Recipe:
    """Amounts that one level of a kind of building makes and uses."""

    makes: dict[int, float]
    uses: dict[int, float]


def _make_world(rng: random.Random, size: int) -> World:
    """Draw goods, recipes and buildings; :func:`_fill_in` adds the computed columns."""
    names = invent(max(3, min(60, size // 6)), rng)
    rng.shuffle(names)
    recipes = [_make_recipe(rng, goods, len(names)) for goods in range(len(names))]
    buildings: list[Row] = []
    supply: list[Row] = []
    demand: list[Row] = []
    number = 1000 + rng.randrange(1000)
    while len(names) + len(buildings) + len(supply) + len(demand) < size or len(buildings) < 2:
        number += rng.randint(1, 9)
        kind, level = rng.randrange(len(names)), rng.randint(1, 20)
        skill = level * math.exp(rng.uniform(-1, 1) * rng.uniform(0, 1.5))
        buildings.append((number, f"{names[kind]}_works", level))
        for goods, amount in recipes[kind].makes.items():
            most = round(amount * skill, 3)
            supply.append((goods, number, most, most, level))
        for goods, amount in recipes[kind].uses.items():
            demand.append((goods, number, round(amount * skill, 3), 0.0, level))
    bought = {goods for goods, *_ in demand}
    goods_rows: list[Row] = [
        (name, code, float(rng.randrange(10, 200, 5)), 0.0, _pop_demand(rng, size, code in bought))
        for code, name in enumerate(names)
    ]
    return World.filled(TABLES, (goods_rows, buildings, supply, demand))


def _make_recipe(rng: random.Random, goods: int, count: int) -> _Recipe:
    """The recipe of a goods: the first third is raw, the others are made from earlier goods."""
    makes = {goods: round(rng.uniform(5, 30), 1)}
    if rng.random() < 0.2:
        makes[rng.randrange(count)] = round(rng.uniform(2, 10), 1)
    if goods < max(1, count // 3):
        return _Recipe(makes, {})
    inputs = rng.sample(range(goods), min(goods, rng.choice((1, 1, 2, 2, 3))))
    return _Recipe(
        makes, {item: round(rng.uniform(3, 25), 1) for item in inputs if item not in makes}
    )


def _pop_demand(rng: random.Random, size: int, bought: bool) -> float:
    """The pop demand of a goods; it grows with the world, and is above 0 if no building buys."""
    wanted = round(rng.uniform(5, 60) * max(1.0, size / 300), 3)
    return 0.0 if bought and rng.random() < 0.4 else wanted


def _fill_in(world: World) -> World:
    """Fill in today's outputs, inputs and prices."""
    economy = Building(world, "printed")
    rate, share, price = economy.today()
    building = {name: place for place, name in enumerate(economy.buildings)}
    supply: list[Row] = [
        (goods, maker, most, round(float(most) * rate[building[int(maker)]], 6), level)
        for goods, maker, most, _, level in world["supply"].rows
    ]
    demand: list[Row] = [
        (goods, user, most, round(float(most) * share[int(goods)], 6), level)
        for goods, user, most, _, level in world["demand"].rows
    ]
    goods_rows: list[Row] = [
        (*row[:3], round(price[place], 4), row[4]) for place, row in enumerate(world["goods"].rows)
    ]
    return world.changed(goods=goods_rows, supply=supply, demand=demand)


SCENARIO = Scenario(
    name="building",
    rules=RULES,
    question="Which building should grow by 5 levels so that the price of {goods} falls most?",
    goal="The goal is the lowest current_price of {goods}. Answer with the building's id.",
    tables=TABLES,
    graph=GRAPH,
    aim="minimise",
    candidates=candidates,
    simulate=simulate,
    generate=generate,
    database="{country}",
)
