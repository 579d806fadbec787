"""Deciders without a language model, which an agent has to beat.

Each returns a decision for a question, or None if it has none. The first two are for Building, the
others for Locating.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from planweave.simulators.outcome import Decision
from planweave.simulators.scenario import Question, parameter
from planweave.simulators.tables import Value

Baseline: TypeAlias = Callable[[Question], Decision | None]


def output_per_level(question: Question) -> Decision | None:
    """The supplier of the goods with the largest current_output / level."""
    suppliers = _suppliers(question)
    if not suppliers:
        return None
    best = max(suppliers, key=lambda row: _ratio(row["current_output"], row["level"]))
    return int(best["building_id"])


def _ratio(amount: Value, size: Value) -> float:
    return float(amount) / float(size) if float(size) else 0.0


def only_supplier(question: Question) -> Decision | None:
    """The supplier of the goods, if there is only one."""
    suppliers = _suppliers(question)
    return int(suppliers[0]["building_id"]) if len(suppliers) == 1 else None


def _matching_rows(
    question: Question, table: str, column: str, *wanted: Value
) -> list[dict[str, Value]]:
    """The rows of a table whose column has one of the wanted values, in table order."""
    found = question.world[table]
    kept = zip(found.values(column), found.rows, strict=True)
    return [dict(zip(found.names, row, strict=True)) for value, row in kept if value in wanted]


def _suppliers(question: Question) -> list[dict[str, Value]]:
    """Rows of supply for the goods of the question."""
    goods = _matching_rows(question, "goods", "goods_name", parameter(question.parameters, "goods"))
    return _matching_rows(question, "supply", "goods_id", goods[0]["code"])


def _sources(question: Question) -> list[dict[str, Value]]:
    """Rows of the nodes with a flow to the home, with this ``flow``, in the order of the table."""
    flows = _matching_rows(question, "flow", "dest", parameter(question.parameters, "home"))
    sources = [row["source"] for row in flows]
    nodes = {
        row["trade_node"]: row
        for row in _matching_rows(question, "trade_node", "trade_node", *sources)
    }
    return [{**nodes[row["source"]], "flow": row["flow"]} for row in flows]


def _powers_by_node(question: Question) -> dict[str, float]:
    country = parameter(question.parameters, "country")
    rows = _matching_rows(question, "node_country", "country_name", country)
    return {str(row["trade_node"]): float(row["base_trading_power"]) for row in rows}


def unsteered_outflow(question: Question) -> Decision | None:
    """The direct source of the home that sends most elsewhere: largest outgoing - flow(home)."""
    return _best_source(question, lambda row: float(row["outgoing"]) - float(row["flow"]))


def one_hop(question: Question) -> Decision | None:
    """The direct source with presence whose steered outflow exceeds its flow to the home most.

    With the merchant in place the country has power p' = 1.05·(p + 2 + [inland]·max(development,
    50)) in the source, so the source's total becomes T + p' - p and its outflow, steered to the
    home, (local_value + ingoing) · (A + p' - p) / (T + p' - p), A = T · outgoing / value being
    the power of the countries that have their home elsewhere.
    """
    powers = _powers_by_node(question)
    name = parameter(question.parameters, "country")
    (country,) = _matching_rows(question, "country", "country_name", name)
    development = float(country["development"])

    def gain(row: Mapping[str, Value]) -> float:
        power = powers.get(str(row["trade_node"]))
        if power is None:
            return -1.0
        inland = float(row["is_inland"])
        lift = 1.05 * (power + 2 + inland * max(50.0, development)) - power
        total, value = float(row["total_power"]), float(row["local_value"]) + float(row["ingoing"])
        away = total * float(row["outgoing"]) / value if value else 0.0
        return value * (away + lift) / (total + lift) - float(row["flow"])

    return _best_source(question, gain)


def _best_source(
    question: Question, score: Callable[[Mapping[str, Value]], float]
) -> Decision | None:
    sources = _sources(question)
    return str(max(sources, key=score)["trade_node"]) if sources else None


def random_source(question: Question) -> float:
    """Chance that a random direct source of the home where the country has power is right.

    This is not a decision but the expected score of guessing.
    """
    powers, outcome = _powers_by_node(question), question.simulate()
    sources = (str(row["trade_node"]) for row in _sources(question))
    pool = [name for name in sources if name in powers]
    return float(np.mean([outcome.accepts(name) for name in pool])) if pool else 0.0


BASELINES: Mapping[str, Mapping[str, Baseline]] = {
    "locating": {"unsteered outflow": unsteered_outflow, "one hop": one_hop},
    "building": {"output per level": output_per_level, "only supplier": only_supplier},
}
"""The deciding baselines of each scenario by their name in reports."""
