"""The rules of Locating and Building in plain Python, one candidate at a time, edge by edge.

An oracle for the simulators: it takes the printed or annotation rules word for word.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from planweave.simulators.outcome import Decision
from planweave.simulators.scenario import Parameters
from planweave.simulators.tables import Value, World

Values: TypeAlias = dict[Decision, float]


def _records(world: World, table: str) -> list[dict[str, Value]]:
    found = world[table]
    return [dict(zip(found.names, row, strict=True)) for row in found.rows]


def plain_locating(world: World, parameters: Parameters) -> Values:
    """The rules of Locating, one candidate after the other."""
    name, annotation = str(parameters["country"]), parameters.get("semantics") != "printed"
    (country,) = (row for row in _records(world, "country") if row["country_name"] == name)
    nodes = [str(row["trade_node"]) for row in _records(world, "trade_node")]
    return {
        node: _profit(world, country, node, annotation)
        for node in nodes
        if node != country["home_node"]
    }


def _profit(world: World, country: dict[str, Value], chosen: str, annotation: bool) -> float:
    nodes = {str(row["trade_node"]): row for row in _records(world, "trade_node")}
    destinations: dict[str, list[str]] = {node: [] for node in nodes}
    for row in _records(world, "flow"):
        destinations[str(row["source"])].append(str(row["dest"]))
    total, away, power = _powers(world, country, chosen, annotation)
    home = str(country["home_node"])
    incoming = {n: float(row["ingoing"]) if annotation else 0.0 for n, row in nodes.items()}
    outgoing: dict[str, float] = {}
    for node in _downstream(destinations):
        value = float(nodes[node]["local_value"]) + incoming[node]
        outgoing[node] = float(nodes[node]["outgoing"])
        if total[node]:
            outgoing[node] = value * away[node] / total[node]
        reaching = [d for d in destinations[node] if _reaches(destinations, d, home)]
        if node == chosen and node in power and reaching:
            hop = home if home in reaching else reaching[0]
            incoming[hop] += 1.05 * outgoing[node]
            continue
        for dest in destinations[node]:
            incoming[dest] += 1.05 * outgoing[node] / len(destinations[node])
    value = float(nodes[home]["local_value"]) + incoming[home]
    value -= outgoing[home] if annotation else 0.0
    return value * power.get(home, 0.0) / total[home] if total[home] else 0.0


def _powers(
    world: World, country: dict[str, Value], chosen: str, annotation: bool
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Total power, power of those at home elsewhere, power of the country, all per node."""
    nodes = {str(row["trade_node"]): row for row in _records(world, "trade_node")}
    homes = {row["country_name"]: row["home_node"] for row in _records(world, "country")}
    total = {node: float(row["total_power"]) for node, row in nodes.items()}
    away, own = dict.fromkeys(nodes, 0.0), {}
    for row in _records(world, "node_country"):
        node, base = str(row["trade_node"]), float(row["base_trading_power"])
        power = base
        if row["country_name"] == country["country_name"]:
            if node == chosen:
                power = _with_merchant(base, nodes[node], country, annotation)
            own[node] = power
        total[node] += power if annotation else power - base
        if homes[row["country_name"]] != node:
            away[node] += power
    return total, away, own


def _with_merchant(
    base: float, node: dict[str, Value], country: dict[str, Value], annotation: bool
) -> float:
    bonus = float(country["development"]) / (1 if annotation else 3)
    return 1.05 * (base + 2 + (max(50.0, bonus) if node["is_inland"] else 0.0))


def _downstream(destinations: dict[str, list[str]]) -> Iterator[str]:
    """Nodes so that each comes after all its sources (find_top_n, again and again)."""
    left = dict(destinations)
    while left:
        fed = {dest for node in left for dest in left[node]}
        for node in [node for node in left if node not in fed]:
            yield node
            del left[node]


def _reaches(destinations: dict[str, list[str]], node: str, home: str) -> bool:
    seen, queue = {node}, [node]
    while queue:
        for dest in destinations[queue.pop()]:
            if dest not in seen:
                seen.add(dest)
                queue.append(dest)
    return home in seen


def plain_building(world: World, parameters: Parameters) -> Values:
    """The rules of Building, one candidate after the other."""
    goods, annotation = str(parameters["goods"]), parameters.get("semantics") != "printed"
    return {
        int(row["id"]): _price(world, goods, row, annotation) for row in _records(world, "building")
    }


def _price(world: World, name: str, chosen: dict[str, Value], annotation: bool) -> float:
    level = float(chosen["level"])
    goods = {row["code"]: row for row in _records(world, "goods")}
    demand = {code: float(row["pop_demand"]) for code, row in goods.items()}
    supply = dict.fromkeys(goods, 0.0)
    inputs: dict[Value, list[Value]] = {}
    for row in _records(world, "demand"):
        factor = (level + 5) / level if row["building_id"] == chosen["id"] else 1.0
        demand[row["goods_id"]] += float(row["max_demand"]) * (factor + annotation)
        inputs.setdefault(row["building_id"], []).append(row["goods_id"])
    supplies = _records(world, "supply")
    for row in supplies:
        factor = (level + 5) / level if row["building_id"] == chosen["id"] else 1.0
        row["max_supply"] = float(row["max_supply"]) * factor
        started = float(row["current_output"]) if annotation else 0.0
        supply[row["goods_id"]] += started + float(row["max_supply"])
    for _ in range(10):
        made = dict.fromkeys(goods, 0.0)
        for row in supplies:
            output = float(row["current_output"])
            if used := inputs.get(row["building_id"]):
                ratios = [min(1.0, supply[g] / demand[g]) if demand[g] else 1.0 for g in used]
                output = float(row["max_supply"]) * sum(ratios) / len(ratios)
            made[row["goods_id"]] += output
        supply = made
    (code,) = (code for code, row in goods.items() if row["goods_name"] == name)
    most = max(demand[code], supply[code])
    gap = (demand[code] - supply[code]) / most if most else 0.0
    return float(goods[code]["base_price"]) * (1 + 0.75 * gap)


PLAIN: dict[str, Callable[[World, Parameters], Values]] = {
    "locating": plain_locating,
    "building": plain_building,
}
