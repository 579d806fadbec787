"""The Locating scenario as a plug-in: its rules in words, and a generator of worlds.

Generated worlds follow the printed semantics, and the rules below say exactly that: whoever
follows them reaches the simulator's decision. Rows are in alphabetical order, so "the first
destination in table order" is the alphabetically first one.

Worlds differ in their scale: one counts its trade in hundreds, another in tenths. A few great
powers are developed and present in many nodes, most countries in one or two. Power spreads along
the routes of trade, from the home upstream. Questions are mostly those of great powers, who have a
choice.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from planweave.simulators.locating import GRAPH, GROWTH, TABLES, Locating
from planweave.simulators.names import invent
from planweave.simulators.outcome import Decision, Outcome, Semantics
from planweave.simulators.scenario import Case, Parameters, Scenario, generator, parameter
from planweave.simulators.tables import Row, World

RULES = """\
Trade flows between trade nodes along the rows of flow, always from source to dest, never in a \
circle.
A country has trading power in a trade node if node_country has a row for the two; \
base_trading_power is that power. The total_power of a node is the sum of the trading powers of \
all countries in it. A country earns its profit in one node, its home_node.
The value of a node is local_value + ingoing. The part of it that leaves the node is \
outgoing = value * away / total_power, where away is the sum of the trading powers, in that node, \
of the countries whose home node is another node. A node where nobody has power passes nothing on.
Without a merchant, outgoing is split evenly over all destinations of the node; the column flow \
holds each part. Every flow grows on its way: the ingoing of a node is 1.05 times the sum of the \
flows that arrive in it. So nodes have to be computed from upstream to downstream.
A country can place its merchant in any node but its home node. The merchant only has an effect in \
a node where the country has a row in node_country. There it does two things. First, the trading \
power of the country in that node becomes 1.05 * (base_trading_power + 2), or, if the node is \
inland, 1.05 * (base_trading_power + 2 + max(development / 3, 50)) with the development of the \
country; total_power of the node grows by the same amount. Second, all of the node's outgoing goes \
to a single destination: to the country's home node if that is a destination, otherwise to the \
alphabetically first destination from which the home node can be reached. If the home node cannot \
be reached, outgoing is split evenly as before.
The profit of a country is (local_value + ingoing) * (its trading power / total_power), all taken \
in its home node, after the flows have been computed again with the merchant in place.
"""

_QUESTIONS_PER_WORLD = 20
_CLEAR = 0.05
"""The best decision must be ahead of the second by this part of what it gains."""


@lru_cache(maxsize=32)
def _prepared(world: World, semantics: Semantics) -> Locating:
    return Locating(world, semantics)


def simulate(world: World, parameters: Parameters) -> Outcome:
    """Profit of the ``country`` per node, by the ``semantics`` asked for (published: annotation).

    Raises:
        BadInput: The database or the country is wrong.
    """
    semantics: Semantics = "printed" if parameters.get("semantics") == "printed" else "annotation"
    country, home = parameter(parameters, "country"), str(parameters.get("home", ""))
    return _prepared(world, semantics).simulate(country, home)


def candidates(world: World, parameters: Parameters) -> tuple[Decision, ...]:
    """Every node but the home of the country."""
    home = parameter(parameters, "home")
    return tuple(str(n) for n in world["trade_node"].values("trade_node") if n != home)


@generator("locating")
def generate(rng: random.Random, _seed: int, size: int) -> Iterator[Case]:
    """About ``size`` rows and a country with one clear best node."""
    world = _settled(_world(rng, size))
    countries = world["country"].rows
    present = Counter(row[1] for row in world["node_country"].rows)
    weights = [present[name] ** 2 for name, _home, _size in countries]
    for name, home, _size in rng.choices(countries, weights, k=_QUESTIONS_PER_WORLD):
        case = Case(world, {"country": name, "home": home, "semantics": "printed"})
        if _clear(simulate(*case)):
            yield case


def _clear(outcome: Outcome) -> bool:
    gain = float(outcome.values.max()) - outcome.baseline
    return outcome.improving and gain > 0.002 * outcome.baseline and outcome.margin > _CLEAR * gain


def _world(rng: random.Random, size: int) -> World:
    """Names, flows and powers; what follows from them is filled in by ``_settled``."""
    count = max(3, int(size**0.55))
    nodes = rng.sample(names := invent(count, rng), count)  # this order is downstream
    flows = [
        (source, dest, 0.0)
        for place, source in enumerate(nodes[:-1])
        for dest in _destinations(rng, nodes, place)
    ]
    rows = size - len(nodes) - len(flows)
    countries = invent(max(2, rows * 3 // 10), rng)
    ranks = rng.sample(countries, len(countries))  # the greatest power first
    homes = {name: rng.randrange(1, len(nodes)) for name in ranks}
    lead, wealth = rng.uniform(100, 1000), 10 ** rng.uniform(-1, 1)
    development = {
        name: round(max(5.0, rng.uniform(0.5, 1.5) * lead / math.sqrt(rank)), 1)
        for rank, name in enumerate(ranks, start=1)
    }
    powers = _presence(rng, nodes, homes, flows, max(3, rows - len(countries)))
    trade_nodes: list[Row] = [
        (name, round(wealth * rng.uniform(0.5, 12), 4), rng.random() < 0.3, 0.0, 0.0, 0.0)
        for name in names
    ]
    country_rows = [(name, nodes[homes[name]], development[name]) for name in countries]
    power_rows = [
        (node, name, nodes[homes[name]] == node, False, power, power)
        for (node, name), power in sorted(powers.items())
    ]
    return World.filled(TABLES, (country_rows, trade_nodes, sorted(flows), power_rows))


def _destinations(rng: random.Random, nodes: list[str], place: int) -> list[str]:
    """One to three of the next few nodes downstream."""
    near = nodes[place + 1 : place + 9]
    return rng.sample(near, min(len(near), rng.choice((1, 2, 2, 3))))


def _presence(
    rng: random.Random,
    nodes: list[str],
    homes: dict[str, int],
    flows: list[tuple[str, str, float]],
    rows: int,
) -> dict[tuple[str, str], float]:
    """Trading power by node and country, greatest power first in ``homes``: strong at home."""
    scale = 10 ** rng.uniform(-0.4, 0.4)
    sources: dict[str, list[str]] = {}
    for source, dest, _ in flows:
        sources.setdefault(dest, []).append(source)
    powers = {(nodes[h], name): round(scale * rng.uniform(15, 120), 3) for name, h in homes.items()}
    names, weights = list(homes), [1 / rank for rank in range(1, len(homes) + 1)]
    for name in rng.choices(names, weights, k=8 * rows):
        if len(powers) >= rows:
            break
        node = _upstream(rng, nodes[homes[name]], sources)
        if rng.random() < 0.15:
            node = rng.choice(nodes)
        powers.setdefault((node, name), round(scale * rng.uniform(1, 60), 3))
    return powers


def _upstream(rng: random.Random, node: str, sources: dict[str, list[str]]) -> str:
    """A node from which trade reaches ``node``, near ones more often; itself if there is none."""
    while node in sources:
        node = rng.choice(sources[node])
        if rng.random() < 0.6:
            break
    return node


def _settled(world: World) -> World:
    """The world with total powers and, without any merchant, all flows filled in."""
    totals: dict[str, float] = {}
    for node, _, _, _, power, _ in world["node_country"].rows:
        totals[str(node)] = totals.get(str(node), 0.0) + float(power)
    trade = Locating(world, "printed")
    value = world["trade_node"].numbers("local_value").tolist()
    ingoing, outgoing = [0.0] * len(value), [0.0] * len(value)
    for place in trade.order:
        total = totals.get(trade.nodes[place], 0.0)
        tails = trade.successors[place]
        if total:
            outgoing[place] = (value[place] + ingoing[place]) * float(trade.away[place]) / total
        for tail in tails:
            ingoing[tail] += GROWTH * outgoing[place] / len(tails)
    part = {
        name: round(out / max(1, len(tails)), 6)
        for name, out, tails in zip(trade.nodes, outgoing, trade.successors, strict=True)
    }
    nodes: list[Row] = [
        (*row[:3], round(totals.get(str(row[0]), 0.0), 3), round(out, 6), round(into, 6))
        for row, out, into in zip(world["trade_node"].rows, outgoing, ingoing, strict=True)
    ]
    flows = [(a, b, part[str(a)]) for a, b, _ in world["flow"].rows]
    return world.changed(trade_node=nodes, flow=flows)


SCENARIO = Scenario(
    name="locating",
    rules=RULES,
    question=(
        'You are the ruler of the country "{country}" and have one merchant. Your home node is '
        '"{home}". In which trade node should you place the merchant?'
    ),
    goal='The goal is the largest profit of "{country}" in "{home}". Answer with the node\'s name.',
    tables=TABLES,
    graph=GRAPH,
    aim="maximise",
    candidates=candidates,
    simulate=simulate,
    generate=generate,
    database="q{question_num}",
)
