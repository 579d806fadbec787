"""The Building scenario as a plug-in: its rules in words, and a generator of worlds.

Generated worlds follow the printed semantics, and the rules below say exactly that: whoever
follows them reaches the simulator's decision.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from planweave.simulators.building import GRAPH, TABLES, Building
from planweave.simulators.names import invent
from planweave.simulators.outcome import Decision, Outcome, Semantics
from planweave.simulators.scenario import Case, Parameters, Scenario, generator, parameter
from planweave.simulators.tables import Row, World

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


@lru_cache(maxsize=64)
def _prepared(world: World, semantics: Semantics) -> Building:
    return Building(world, semantics)


def simulate(world: World, parameters: Parameters) -> Outcome:
    """Price of the ``goods`` per building, by the ``semantics`` asked for (published: annotation).

    Raises:
        BadInput: The database or the goods is wrong.
    """
    semantics: Semantics = "printed" if parameters.get("semantics") == "printed" else "annotation"
    return _prepared(world, semantics).simulate(parameter(parameters, "goods"))


def candidates(world: World, parameters: Parameters) -> tuple[Decision, ...]:  # noqa: ARG001
    """Every building."""
    return tuple(int(number) for number in world["building"].numbers("id"))


@generator("building")
def generate(rng: random.Random, seed: int, size: int) -> Iterator[Case]:
    """About ``size`` rows and a goods with one clear best building."""
    world = _settled(_world(rng, size))
    goods = [str(name) for name in world["goods"].values("goods_name")]
    for name in rng.sample(goods, min(_QUESTIONS_PER_WORLD, len(goods))):
        parameters = {"country": f"w{seed}x{size}", "goods": name, "semantics": "printed"}
        if _clear(simulate(world, parameters)):
            yield Case(world, parameters)


def _clear(outcome: Outcome) -> bool:
    """Ahead of the second by a twentieth of what it gains, and that is seen in the price."""
    gain = outcome.baseline - float(outcome.values.min())
    return outcome.improving and gain > 1e-6 * outcome.baseline and outcome.margin > 0.05 * gain


@dataclass(frozen=True)
class _Recipe:
    """What one level of a kind of building makes and uses."""

    makes: dict[int, float]
    uses: dict[int, float]


def _world(rng: random.Random, size: int) -> World:
    """Goods, recipes and buildings; what follows from them is filled in by ``_settled``."""
    names = invent(max(3, min(60, size // 6)), rng)
    rng.shuffle(names)
    recipes = [_recipe(rng, goods, len(names)) for goods in range(len(names))]
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
        (name, code, float(rng.randrange(10, 200, 5)), 0.0, _appetite(rng, size, code in bought))
        for code, name in enumerate(names)
    ]
    return World.filled(TABLES, (goods_rows, buildings, supply, demand))


def _recipe(rng: random.Random, goods: int, count: int) -> _Recipe:
    """The first third of the goods is raw; the others are made from goods before them."""
    makes = {goods: round(rng.uniform(5, 30), 1)}
    if rng.random() < 0.2:
        makes[rng.randrange(count)] = round(rng.uniform(2, 10), 1)
    if goods < max(1, count // 3):
        return _Recipe(makes, {})
    inputs = rng.sample(range(goods), min(goods, rng.choice((1, 1, 2, 2, 3))))
    return _Recipe(
        makes, {item: round(rng.uniform(3, 25), 1) for item in inputs if item not in makes}
    )


def _appetite(rng: random.Random, size: int, bought: bool) -> float:
    """What people want of a goods; grows with the world, and is never nothing if nobody buys."""
    wanted = round(rng.uniform(5, 60) * max(1.0, size / 300), 3)
    return 0.0 if bought and rng.random() < 0.4 else wanted


def _settled(world: World) -> World:
    """The world with today's outputs, inputs and prices filled in."""
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
