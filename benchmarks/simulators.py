"""CPU per question of the simulators, beside a straightforward plain-Python implementation.

Run ``python -m planweave.benchmarks.simulators [--data PATH] [--size ROWS] [--questions N]
[--json]``. The straightforward implementation lives in this file: it takes the printed or
annotation rules word for word, copies the world for each candidate and works it out edge by edge.
Both must agree on every value of every candidate; the benchmark fails (exit 1) when they do not.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TypeAlias

import numpy as np

from planweave import PlanweaveError
from planweave.simulators import published, registry
from planweave.simulators.building import Building
from planweave.simulators.locating import Locating
from planweave.simulators.outcome import Decision, Outcome
from planweave.simulators.scenario import Parameters, Question
from planweave.simulators.tables import Value, World

Values: TypeAlias = dict[Decision, float]


@dataclass(frozen=True, kw_only=True)
class Result:
    """One line of the benchmark; times are CPU milliseconds per question."""

    scenario: str
    origin: str
    questions: int
    rows: int
    prepare_ms: float
    simulate_ms: float
    plain_ms: float
    ratio: float
    disagreements: int


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


def _simulated(scenario: str, world: World, parameters: Parameters) -> tuple[Outcome, float, float]:
    """Outcome, CPU seconds to make the world ready, CPU seconds of the question itself."""
    printed = parameters.get("semantics") == "printed"
    start = time.process_time()
    if scenario == "locating":
        trade = Locating(world, "printed" if printed else "annotation")
        trade.simulate(str(parameters["country"]))
        ready = time.process_time()
        outcome = trade.simulate(str(parameters["country"]))
    else:
        economy = Building(world, "printed" if printed else "annotation")
        economy.simulate(str(parameters["goods"]))
        ready = time.process_time()
        outcome = economy.simulate(str(parameters["goods"]))
    end = time.process_time()
    # The first run filled the caches and did the work once; what is left over is preparation.
    return outcome, max(0.0, (ready - start) - (end - ready)), end - ready


def measure(scenario: str, origin: str, questions: Iterable[Question], plain: int) -> Result:
    """Time all questions, and the plain implementation on the first ``plain`` of them."""
    prepare, simulate, slow = [], [], []
    rows = disagreements = 0
    for number, question in enumerate(questions):
        outcome, ready, seconds = _simulated(scenario, question.world, question.parameters)
        prepare.append(ready)
        simulate.append(seconds)
        rows += question.world.rows
        if number < plain:
            start = time.process_time()
            values = PLAIN[scenario](question.world, question.parameters)
            slow.append(time.process_time() - start)
            expected = [values[candidate] for candidate in outcome.candidates]
            disagreements += not np.allclose(outcome.values, expected, rtol=1e-9, atol=1e-12)
    mean = [float(np.mean(part)) * 1e3 for part in (prepare, simulate, slow)]
    return Result(
        scenario=scenario,
        origin=origin,
        questions=len(simulate),
        rows=rows // len(simulate),
        prepare_ms=mean[0],
        simulate_ms=mean[1],
        plain_ms=mean[2],
        ratio=mean[2] / (mean[0] + mean[1]),
        disagreements=disagreements,
    )


def run(data: str, size: int, questions: int) -> list[Result]:
    """Measure on generated worlds and, if ``data`` names one, on a data set."""
    sources: list[tuple[str, str, list[Question]]] = []
    for name in PLAIN:
        scenario = registry.scenario(name)
        made = [scenario.ask(scenario.generate(seed, size), seed) for seed in range(questions)]
        sources.append((name, f"generated, {size} rows", made))
    if data:
        dataset = published.load(data)
        sources += [(name, data, [q for q in dataset.of(name) if q.database]) for name in PLAIN]
    return [measure(name, origin, found, questions) for name, origin, found in sources if found]


def main(arguments: list[str] | None = None) -> int:
    """Print one line per scenario and origin; 1 when the implementations disagree."""
    parser = argparse.ArgumentParser(
        prog="python -m planweave.benchmarks.simulators", description=__doc__
    )
    parser.add_argument("--data", default="", help="clone or archive in the published layout")
    parser.add_argument("--size", type=int, default=2000, help="rows of a generated world")
    parser.add_argument("--questions", type=int, default=3, help="generated, and done plainly")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    try:
        results = run(given.data, given.size, max(1, given.questions))
    except PlanweaveError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return error.exit_code
    if given.json:
        print(json.dumps([asdict(result) for result in results], indent=1))  # noqa: T201
    else:
        _print(results)
    return 1 if any(result.disagreements for result in results) else 0


def _print(results: list[Result]) -> None:
    print("CPU ms per question      questions   rows  prepare  simulate      plain  ratio")  # noqa: T201
    for r in results:
        print(  # noqa: T201
            f"{r.scenario:<9} {r.origin[-24:]:<24} {r.questions:>4} {r.rows:>7} "
            f"{r.prepare_ms:>7.2f} {r.simulate_ms:>8.2f} {r.plain_ms:>11.1f} {r.ratio:>6.0f}"
            + (f"  {r.disagreements} DISAGREE" if r.disagreements else "")
        )


if __name__ == "__main__":
    sys.exit(main())
