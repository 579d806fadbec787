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
the home can be reached; if there is none nothing is steered. Each flow adds 1.05 times itself to
the IV of its destination.

Step 3, profit (equation 3): what c earns at home.

    profit = (LV(h) + IV(h)) · power(h, c) / T(h)

The **printed** semantics is just that, with bonus = max(development(c) / 3, 50) and flows starting
from zero. The **annotation** semantics is what the published answers were computed with; it
differs in four places: bonus = max(50, development(c)); T(k) counts the powers of the countries a
second time (published ``total_power`` + Σ power(k, j), lifts included); the IV start from the
published ``ingoing``, not from zero; and the home keeps only LV(h) - out(h) + IV(h).
"""

from collections import deque
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planweave.errors import BadInput
from planweave.simulators.outcome import Outcome, Semantics
from planweave.simulators.tables import (
    Floats,
    GraphMapping,
    Indices,
    NodeLabel,
    RelationshipType,
    Table,
    World,
    sums,
)

GROWTH = 1.05
"""Both the merchant's factor on trading power and what a value gains on its way (equation 2)."""

TABLES = (
    Table.of("country", "country_name", country_name="text", home_node="text", development="real"),
    Table.of(
        "trade_node",
        "trade_node",
        trade_node="text",
        local_value="real",
        is_inland="boolean",
        total_power="real",
        outgoing="real",
        ingoing="real",
    ),
    Table.of("flow", "source dest", source="text", dest="text", flow="real"),
    Table.of(
        "node_country",
        "trade_node country_name",
        trade_node="text",
        country_name="text",
        is_home="boolean",
        has_merchant="boolean",
        base_trading_power="real",
        calculated_trading_power="real",
    ),
)

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


@dataclass(frozen=True, eq=False)
class Locating:
    """A Locating database made ready: any number of questions can be put to it.

    Raises:
        BadInput: A table or column is missing, a name dangles, a merchant is already placed, or
            the flow of trade has a cycle.
    """

    world: World
    semantics: Semantics = "annotation"

    def __post_init__(self) -> None:
        if self.world["node_country"].numbers("has_merchant").any():
            raise BadInput(
                "A merchant is already placed in node_country.",
                fix="Set has_merchant to false: the rules place exactly one merchant.",
            )
        self.order  # noqa: B018 - a cycle is found here, not in the middle of a question

    @cached_property
    def nodes(self) -> list[str]:
        """Node names in table order."""
        return [str(name) for name in self.world["trade_node"].values("trade_node")]

    @cached_property
    def _node(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.nodes)}

    @cached_property
    def _countries(self) -> dict[str, tuple[int, float]]:
        """Home node and development of each country."""
        homes = self.world.places("country", "home_node", "trade_node", "trade_node")
        names = self.world["country"].values("country_name")
        development = self.world["country"].numbers("development")
        return {
            str(name): (int(home), float(size))
            for name, home, size in zip(names, homes, development, strict=True)
        }

    @cached_property
    def successors(self) -> list[list[int]]:
        """Destinations of each node, in the order of the flow table."""
        heads = self.world.places("flow", "source", "trade_node", "trade_node")
        tails = self.world.places("flow", "dest", "trade_node", "trade_node")
        found: list[list[int]] = [[] for _ in self.nodes]
        for head, tail in zip(heads.tolist(), tails.tolist(), strict=True):
            found[head].append(tail)
        return found

    @cached_property
    def order(self) -> list[int]:
        """Nodes in topological order (``find_top_n`` of algorithm 1)."""
        waiting = [0] * len(self.nodes)
        for tails in self.successors:
            for tail in tails:
                waiting[tail] += 1
        ready = deque(node for node, count in enumerate(waiting) if not count)
        order: list[int] = []
        while ready:
            order.append(node := ready.popleft())
            for tail in self.successors[node]:
                waiting[tail] -= 1
                if not waiting[tail]:
                    ready.append(tail)
        if len(order) < len(self.nodes):
            stuck = self.nodes[next(node for node, count in enumerate(waiting) if count)]
            raise BadInput(
                f"The flow of trade runs in a cycle that reaches {stuck!r}.",
                fix="Remove one flow of the cycle: trade must run downstream.",
            )
        return order

    @cached_property
    def _powers(self) -> tuple[Indices, Floats]:
        """Node and base trading power of each row of node_country."""
        places = self.world.places("node_country", "trade_node", "trade_node", "trade_node")
        return places, self.world["node_country"].numbers("base_trading_power")

    @cached_property
    def _rows(self) -> dict[str, dict[int, float]]:
        """Base trading power of each country, by node."""
        found: dict[str, dict[int, float]] = {}
        names = self.world["node_country"].values("country_name")
        for name, node, power in zip(names, *map(np.ndarray.tolist, self._powers), strict=True):
            found.setdefault(str(name), {})[node] = power
        return found

    @cached_property
    def away(self) -> Floats:
        """Power, per node, of the countries whose home is elsewhere."""
        nodes, power = self._powers
        names = self.world["node_country"].values("country_name")
        try:
            homes = np.array([self._countries[str(name)][0] for name in names], dtype=np.intp)
        except KeyError as missing:
            raise BadInput(
                f"node_country names {missing.args[0]!r}, which country does not have."
            ) from None
        return sums(nodes, power * (homes != nodes), len(self.nodes))

    @cached_property
    def total(self) -> Floats:
        """T(k) before any merchant is placed."""
        total = self.world["trade_node"].numbers("total_power")
        if self.semantics == "printed":
            return total
        return total + sums(*self._powers, len(self.nodes))

    def next_hop(self, home: int) -> dict[int, int]:
        """Where a merchant steers to, for every node from which ``home`` can be reached."""
        reach = {home}
        hop: dict[int, int] = {}
        for node in reversed(self.order):
            tails = [tail for tail in self.successors[node] if tail in reach]
            if tails and node != home:
                reach.add(node)
                hop[node] = home if home in tails else tails[0]
        return hop

    def _lift(self, node: int, base: float, development: float) -> float:
        """What a merchant adds to the power of a country at a node (step 1)."""
        bonus = development if self.semantics == "annotation" else development / 3
        inland = float(self._inland[node])
        return GROWTH * (base + 2 + inland * max(50.0, bonus)) - base

    @cached_property
    def _inland(self) -> Floats:
        return self.world["trade_node"].numbers("is_inland")

    def simulate(self, country: str, home: str = "") -> Outcome:
        """The profit of ``country`` at home for every node its merchant can go to.

        ``home`` is the country's home node, when the question names it; it must agree with
        the database.

        Returns:
            One value per node but the home; the baseline is the profit without a merchant.
        """
        if country not in self._countries:
            raise BadInput(f"The database has no country {country!r}.")
        h, development = self._countries[country]
        if home and home != self.nodes[h]:
            raise BadInput(f"The home node of {country} is {self.nodes[h]}, not {home}.")
        present = self._rows.get(country, {})
        # Elsewhere c has no power: a merchant there changes nothing, so those nodes share the
        # last column of the simulation, which has no merchant at all.
        columns = [node for node in present if node != h]
        lifts = np.array([self._lift(node, present[node], development) for node in columns])
        profit = self._flow(h, columns, lifts) * self._share(h, present.get(h, 0.0))
        values = np.full(len(self.nodes), profit[-1])
        values[columns] = profit[:-1]
        keep = np.arange(len(self.nodes)) != h
        names = tuple(name for name in self.nodes if name != self.nodes[h])
        return Outcome(names, values[keep], "maximise", baseline=float(profit[-1]))

    def _share(self, h: int, power: float) -> float:
        """TPR(h, c) of equation 1; nobody has power in a node without any."""
        total = float(self.total[h])
        return power / total if total else 0.0

    def _flow(self, h: int, columns: list[int], lifts: Floats) -> Floats:
        """Value at home per column, the last column being the world without a merchant."""
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
