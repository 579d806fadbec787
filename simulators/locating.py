"""Locating: at which trade node should a country place its one merchant?

The rules of the PlanRAG paper (arXiv 2406.12430, section 3.1, equations 1 to 3, algorithm 1) in
NumPy, all candidates of a question at once. Notation: n, k nodes; c the country of the question;
h its home node; j any country; LV local value, IV incoming value, T total trading power.

Step 1, powers (equation 1). power(k, j) is ``base_trading_power``. Only at the candidate n, and
only if c is present there, the merchant lifts c's power by

    lift = 1.05 · (base + 2 + [n is inland] · bonus) - base

T(k) is the published ``total_power`` plus that lift.

Step 2, flows (equation 2), nodes in topological order. The share of a node's value that leaves it
belongs to the countries that have their home elsewhere:

    away(k) = Σ power(k, j) over countries j whose home is not k
    out(k)  = (LV(k) + IV(k)) · away(k) / T(k)          (T(k) = 0: the published ``outgoing``)

Without a merchant out(k) is split evenly over the node's destinations. The merchant steers all of
out(n) to one of them: the home if it is a neighbour, else the first one in table order from which
the home can be reached; without such a node, it steers nothing. Each flow adds 1.05 times itself to
the IV of its destination.

Step 3, profit (equation 3): what c earns at home.

    profit = (LV(h) + IV(h)) · power(h, c) / T(h)

The **printed** semantics is just that, with bonus = max(development(c) / 3, 50) and flows starting
from zero. The **annotation** semantics is what the published answers were computed with; it
differs in four places: bonus = max(50, development(c)); T(k) counts the powers of the countries a
second time (published ``total_power`` + Σ power(k, j), lifts included); the IV start from the
published ``ingoing``, not from zero; and the home keeps only LV(h) - out(h) + IV(h).

Generated worlds follow the printed semantics, and ``RULES`` describe exactly that: they lead to the
simulator's decision. Rows are in alphabetical order, so "the first destination in
table order" is the alphabetically first one.

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
from graphlib import CycleError, TopologicalSorter

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

GROWTH = 1.05
"""The merchant's factor on trading power, and the growth of a value on its way (equation 2)."""

TABLES = declare_tables("""
CREATE TABLE country(
  country_name TEXT, home_node TEXT, development REAL, PRIMARY KEY (country_name));
CREATE TABLE trade_node(
  trade_node TEXT, local_value REAL, is_inland BOOLEAN, total_power REAL, outgoing REAL,
  ingoing REAL, PRIMARY KEY (trade_node));
CREATE TABLE flow(source TEXT, dest TEXT, flow REAL, PRIMARY KEY (source, dest));
CREATE TABLE node_country(
  trade_node TEXT, country_name TEXT, is_home BOOLEAN, has_merchant BOOLEAN,
  base_trading_power REAL, calculated_trading_power REAL,
  PRIMARY KEY (trade_node, country_name));
""")

GRAPH = GraphMapping(
    nodes=(
        NodeLabel("Trade_node", "trade_node", "trade_node", {"trade_node": "name"}),
        NodeLabel("Country", "country", "country_name", {"country_name": "name"}),
    ),
    relationships=(
        RelationshipType("source", "flow", ("source", "Trade_node"), ("dest", "Trade_node")),
        RelationshipType(
            "NodeCountry", "node_country", ("country_name", "Country"), ("trade_node", "Trade_node")
        ),
    ),
)


class Locating:
    """A prepared Locating database for any number of questions.

    Attributes:
        nodes: Node names in table order.
        successors: Destinations of each node, in the order of the flow table.
        order: Nodes in topological order (``find_top_n`` of algorithm 1).
        away: Power, per node, of the countries whose home is elsewhere.
        total: T(k) before any merchant is placed.
    """

    def __init__(self, world: World, semantics: Semantics = "annotation") -> None:
        self.world, self.semantics = world, semantics
        table, country, power = (world[n] for n in ("trade_node", "country", "node_country"))
        if power.numbers("has_merchant").any():
            raise BadInput(
                "A merchant is already placed in node_country.",
                fix="Set has_merchant to false: the rules place exactly one merchant.",
            )
        self.nodes = [str(name) for name in table.values("trade_node")]
        self.successors: list[list[int]] = [[] for _ in self.nodes]
        downstream = TopologicalSorter[int](dict.fromkeys(range(len(self.nodes)), ()))
        ends = (self._places("flow", end).tolist() for end in ("source", "dest"))
        for head, tail in zip(*ends, strict=True):
            self.successors[head].append(tail)
            downstream.add(tail, head)
        try:
            self.order = [*downstream.static_order()]
        except CycleError as error:
            raise BadInput(
                f"The flow of trade runs in a cycle through {self.nodes[error.args[1][0]]!r}.",
                fix="Remove one flow of the cycle: trade must run downstream.",
            ) from None
        self._inland = table.numbers("is_inland")
        homes = self._places("country", "home_node")
        names = map(str, country.values("country_name"))
        about = zip(homes.tolist(), country.numbers("development").tolist(), strict=True)
        self._countries = dict(zip(names, about, strict=True))  # home node and development
        places, base = (
            self._places("node_country", "trade_node"),
            power.numbers("base_trading_power"),
        )
        self._power_by_country: dict[str, dict[int, float]] = {}
        owners = power.values("country_name")
        for name, node, own in zip(owners, places.tolist(), base.tolist(), strict=True):
            self._power_by_country.setdefault(str(name), {})[node] = own
        home = homes[world.places("node_country", "country_name", "country", "country_name")]
        self.away = sums(places, base * (home != places), len(self.nodes))
        self.total = table.numbers("total_power")
        if semantics == "annotation":
            self.total = self.total + sums(places, base, len(self.nodes))

    def _places(self, table: str, column: str) -> Indices:
        """The numbers of the nodes that a column names."""
        return self.world.places(table, column, "trade_node", "trade_node")

    def next_hop(self, home: int) -> dict[int, int]:
        """The node that a merchant steers to, for every node from which ``home`` can be reached."""
        reach = {home}
        hop: dict[int, int] = {}
        for node in reversed(self.order):
            tails = [tail for tail in self.successors[node] if tail in reach]
            if tails and node != home:
                reach.add(node)
                hop[node] = home if home in tails else tails[0]
        return hop

    def _lift(self, node: int, base: float, development: float) -> float:
        """The power that a merchant adds for a country at a node (step 1)."""
        bonus = development if self.semantics == "annotation" else development / 3
        inland = float(self._inland[node])
        return GROWTH * (base + 2 + inland * max(50.0, bonus)) - base

    def simulate(self, country: str, home: str = "") -> Outcome:
        """The profit of ``country`` at home for every node its merchant can go to.

        ``home`` is the country's home node, if the question names it; it must agree with the
        database.

        Returns:
            One value per node but the home; the baseline is the profit without a merchant.
        """
        if country not in self._countries:
            raise BadInput(f"The database has no country {country!r}.")
        h, development = self._countries[country]
        if home and home != self.nodes[h]:
            raise BadInput(f"The home node of {country} is {self.nodes[h]}, not {home}.")
        present = self._power_by_country.get(country, {})
        # Elsewhere c has no power and a merchant changes nothing, so these nodes share the last
        # column of the simulation, which is without a merchant.
        columns = [node for node in present if node != h]
        lifts = np.array([self._lift(node, present[node], development) for node in columns])
        profit = self._value_at_home(h, columns, lifts) * self._power_share(h, present.get(h, 0.0))
        values = np.full(len(self.nodes), profit[-1])
        values[columns] = profit[:-1]
        keep = np.arange(len(self.nodes)) != h
        names = tuple(name for name in self.nodes if name != self.nodes[h])
        return Outcome(names, values[keep], "maximise", baseline=float(profit[-1]))

    def _power_share(self, h: int, power: float) -> float:
        """TPR(h, c) of equation 1; 0 if the node has no power."""
        total = float(self.total[h])
        return power / total if total else 0.0

    def _value_at_home(self, h: int, columns: list[int], lifts: Floats) -> Floats:
        """Value at home per column; the last column is the world without a merchant."""
        nodes = self.world["trade_node"]
        local, outgoing = nodes.numbers("local_value"), nodes.numbers("outgoing")
        printed = self.semantics == "printed"
        start = np.zeros(len(local)) if printed else nodes.numbers("ingoing")
        incoming = np.repeat(start[:, None], len(columns) + 1, axis=1)
        hop = self.next_hop(h)
        column = {node: place for place, node in enumerate(columns)}
        out = np.zeros(len(columns) + 1)
        at_home = out
        for node in self.order:
            away, total = self.away[node], self.total[node]
            value = local[node] + incoming[node]
            out = value * (away / total) if total else np.full_like(value, outgoing[node])
            place = column.get(node)
            if place is not None:
                out[place] = value[place] * (away + lifts[place]) / (total + lifts[place])
            if node == h:
                at_home = value if printed else value - out
            if tails := self.successors[node]:
                share = out * (GROWTH / len(tails))
                if place is not None and node in hop:
                    share[place] = 0.0
                    incoming[hop[node], place] += GROWTH * out[place]
                for tail in tails:
                    incoming[tail] += share
        return at_home


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
_LEAST_LEAD = 0.05
"""The best decision must lead the second by this share of its gain."""


_prepare = lru_cache(maxsize=32)(Locating)


def simulate(world: World, parameters: Parameters) -> Outcome:
    """The profit of ``country`` at home for every other node; the baseline is without a merchant.

    ``home`` is the country's home node, if the question names it; it must agree with the database.
    """
    country, home = parameter(parameters, "country"), str(parameters.get("home", ""))
    return _prepare(world, semantics_of(parameters)).simulate(country, home)


def candidates(world: World, parameters: Parameters) -> tuple[Decision, ...]:
    """Every node but the home of the country."""
    home = parameter(parameters, "home")
    return tuple(str(n) for n in world["trade_node"].values("trade_node") if n != home)


@generator("locating")
def generate(rng: random.Random, _seed: int, size: int) -> Iterator[Case]:
    """About ``size`` rows and a country with one clear best node."""
    world = _fill_in(_make_world(rng, size))
    countries = world["country"].rows
    present = Counter(row[1] for row in world["node_country"].rows)
    weights = [present[name] ** 2 for name, _home, _size in countries]
    for name, home, _size in rng.choices(countries, weights, k=_QUESTIONS_PER_WORLD):
        case = Case(world, {"country": name, "home": home, "semantics": "printed"})
        if _is_clear(simulate(*case)):
            yield case


def _is_clear(outcome: Outcome) -> bool:
    gain = float(outcome.values.max()) - outcome.baseline
    return (
        outcome.improving
        and gain > 0.002 * outcome.baseline
        and outcome.margin > _LEAST_LEAD * gain
    )


def _make_world(rng: random.Random, size: int) -> World:
    """Draw names, flows and powers; :func:`_fill_in` adds the computed columns."""
    count = max(3, int(size**0.55))
    nodes = rng.sample(names := invent(count, rng), count)  # this order is downstream
    flows = [
        (source, dest, 0.0)
        for place, source in enumerate(nodes[:-1])
        for dest in _choose_destinations(rng, nodes, place)
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
    powers = _draw_powers(rng, nodes, homes, flows, max(3, rows - len(countries)))
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


def _choose_destinations(rng: random.Random, nodes: list[str], place: int) -> list[str]:
    """Choose one to three of the next nodes downstream."""
    near = nodes[place + 1 : place + 9]
    return rng.sample(near, min(len(near), rng.choice((1, 2, 2, 3))))


def _draw_powers(
    rng: random.Random,
    nodes: list[str],
    homes: dict[str, int],
    flows: list[tuple[str, str, float]],
    rows: int,
) -> dict[tuple[str, str], float]:
    """Draw trading power by node and country; ``homes`` starts with the greatest power."""
    scale = 10 ** rng.uniform(-0.4, 0.4)
    sources: dict[str, list[str]] = {}
    for source, dest, _ in flows:
        sources.setdefault(dest, []).append(source)
    powers = {(nodes[h], name): round(scale * rng.uniform(15, 120), 3) for name, h in homes.items()}
    names, weights = list(homes), [1 / rank for rank in range(1, len(homes) + 1)]
    for name in rng.choices(names, weights, k=8 * rows):
        if len(powers) >= rows:
            break
        node = _step_upstream(rng, nodes[homes[name]], sources)
        if rng.random() < 0.15:
            node = rng.choice(nodes)
        powers.setdefault((node, name), round(scale * rng.uniform(1, 60), 3))
    return powers


def _step_upstream(rng: random.Random, node: str, sources: dict[str, list[str]]) -> str:
    """Draw a node upstream of ``node``, more often a near one; if there is none, ``node``."""
    while node in sources:
        node = rng.choice(sources[node])
        if rng.random() < 0.6:
            break
    return node


def _fill_in(world: World) -> World:
    """Fill in total powers and, without a merchant, all flows."""
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
