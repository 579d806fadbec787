"""The perfect analyst: a script in place of a model that answers the published questions.

``planweave bench dqa --model analyst:perfect`` uses it; errors that remain are not the model's. It
sees only the prompts, writes a plan and two or three short queries per question, in the language of
the connected database, and decides from the rows in the prompt. If a reply may hold several
actions, it sends all queries at once, marks the steps as complete, and decides in the last reply.

**Locating.** Trade runs downstream. Of a node's value the part away / power leaves (away: the
power of countries that are at home elsewhere), is split over the destinations and gains 5 % on the
way. So one unit of value at a node brings ``usual`` units home; a merchant raises the part that
leaves by its ``lift`` and sends it to the one destination from which most comes home (``steered``
units for each). The merchant is worth most where value · (what it brings home now - ``usual``) is
largest. As in the published answers, power counts each country twice (``total_power`` holds it
once) and value starts from ``ingoing``.

**Building.** A building works at the mean rate at which its inputs are met, so five levels add
5 / level · max_supply · rate to the supply. As in the published answers, demand counts each
building twice, and a building without inputs keeps its output.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from planweave.errors import BadInput
from planweave.models import register_provider
from planweave.prompts import load
from planweave.testing import Reply, ScriptedModel

_SQL_EDGES = """\
WITH RECURSIVE node AS (
  SELECT t.trade_node AS name, t.local_value + t.ingoing AS value,
    t.total_power + SUM(p.base_trading_power) AS power,
    SUM(CASE WHEN c.home_node <> t.trade_node THEN p.base_trading_power ELSE 0 END) AS away
  FROM trade_node t JOIN node_country p ON p.trade_node = t.trade_node
  JOIN country c ON c.country_name = p.country_name
  GROUP BY t.trade_node, t.local_value, t.ingoing, t.total_power),
edge AS (
  SELECT f.source, f.dest,
    1.05 * n.away / n.power / COUNT(*) OVER (PARTITION BY f.source) AS passed
  FROM flow f JOIN node n ON n.name = f.source),
"""

LOCATING_SQL = (
    _SQL_EDGES
    + """\
path(name, share) AS (
  SELECT home_node, 1.0 FROM country WHERE country_name = '{country}'
  UNION ALL
  SELECT e.source, path.share * e.passed FROM path JOIN edge e ON e.dest = path.name
  WHERE path.share * e.passed > 0.0000001),
reach AS (SELECT name, SUM(share) AS share FROM path GROUP BY name)
SELECT e.source AS name, MAX(r.share) AS steered, SUM(r.share * e.passed) AS usual
FROM edge e JOIN reach r ON r.name = e.dest
JOIN node_country p ON p.trade_node = e.source AND p.country_name = '{country}' AND NOT p.is_home
GROUP BY e.source""",
    """\
SELECT p.trade_node AS name, t.is_inland, c.development, p.base_trading_power AS base,
  t.total_power + SUM(o.base_trading_power) AS power,
  SUM(CASE WHEN x.home_node <> t.trade_node THEN o.base_trading_power ELSE 0 END) AS away
FROM node_country p JOIN country c ON c.country_name = p.country_name
JOIN trade_node t ON t.trade_node = p.trade_node
JOIN node_country o ON o.trade_node = p.trade_node
JOIN country x ON x.country_name = o.country_name
WHERE p.country_name = '{country}' AND p.trade_node IN ({found})
GROUP BY p.trade_node, t.is_inland, c.development, p.base_trading_power, t.total_power""",
    _SQL_EDGES
    + """\
path(name, value) AS (
  SELECT name, value FROM node
  UNION ALL
  SELECT e.dest, path.value * e.passed FROM path JOIN edge e ON e.source = path.name
  WHERE path.value * e.passed > 0.001)
SELECT name, SUM(value) AS value FROM path WHERE name IN ({found}) GROUP BY name""",
)

_CYPHER_EDGES = """\
MATCH (c:Country)-[p:NodeCountry]->(n:Trade_node)
WITH n, n.total_power + sum(p.base_trading_power) AS power,
  sum(CASE WHEN c.home_node <> n.name THEN p.base_trading_power ELSE 0.0 END) AS away
MATCH (n)-[:source]->(d:Trade_node)
WITH n, power, away, count(d) AS exits
WITH {{name: n.name, passed: 1.05 * away / power / exits}} AS exit
WITH collect(exit) AS exits
"""

LOCATING_CYPHER = (
    _CYPHER_EDGES
    + """\
MATCH (me:Country {{name: '{country}'}}), (home:Trade_node {{name: me.home_node}})
MATCH (me)-[:NodeCountry]->(n:Trade_node)-[:source]->(d:Trade_node)
WHERE n.name <> home.name
MATCH path = (d)-[:source*0..5]->(home)
WITH exits, n, d, sum(reduce(s = 1.0, k IN nodes(path)[0..-1] |
  s * head([x IN exits WHERE x.name = k.name | x.passed]))) AS share
WITH n, max(share) AS steered, sum(share) AS every,
  head([x IN exits WHERE x.name = n.name | x.passed]) AS passed
RETURN n.name AS name, steered, every * passed AS usual""",
    """\
MATCH (me:Country {{name: '{country}'}})-[p:NodeCountry]->(n:Trade_node)
WHERE n.name IN [{found}]
MATCH (c:Country)-[o:NodeCountry]->(n)
RETURN n.name AS name, n.is_inland AS is_inland, me.development AS development,
  p.base_trading_power AS base, n.total_power + sum(o.base_trading_power) AS power,
  sum(CASE WHEN c.home_node <> n.name THEN o.base_trading_power ELSE 0.0 END) AS away""",
    _CYPHER_EDGES
    + """\
UNWIND [{found}] AS name
MATCH path = (k:Trade_node)-[:source*0..3]->(n:Trade_node {{name: name}})
RETURN name, sum((k.local_value + k.ingoing) * reduce(s = 1.0, y IN nodes(path)[0..-1] |
  s * head([x IN exits WHERE x.name = y.name | x.passed]))) AS value""",
)

BUILDING_SQL = (
    """\
SELECT b.id, 5.0 / b.level * s.max_supply AS growth
FROM goods g JOIN supply s ON s.goods_id = g.code JOIN building b ON b.id = s.building_id
WHERE g.goods_name = '{goods}' ORDER BY s.current_output / b.level DESC LIMIT 20""",
    """\
WITH wanted AS (SELECT goods_id, 2 * SUM(max_demand) AS amount FROM demand GROUP BY goods_id),
offered AS (
  SELECT goods_id, SUM(current_output + max_supply) AS amount FROM supply GROUP BY goods_id)
SELECT d.building_id AS id,
  AVG(MIN(1, COALESCE(o.amount, 0) / (g.pop_demand + w.amount))) AS rate
FROM demand d JOIN goods g ON g.code = d.goods_id JOIN wanted w ON w.goods_id = d.goods_id
LEFT JOIN offered o ON o.goods_id = d.goods_id
WHERE d.building_id IN ({found}) GROUP BY d.building_id""",
)

BUILDING_CYPHER = (
    """\
MATCH (:Goods {{name: '{goods}'}})<-[s:Supply]-(b:Building)
RETURN b.id AS id, 5.0 / b.level * s.max_supply AS growth
ORDER BY s.current_output / b.level DESC LIMIT 20""",
    """\
MATCH (g:Goods)-[:Demand]->(b:Building) WHERE b.id IN [{found}]
WITH b, g.pop_demand
    + reduce(t = 0.0, x IN [(g)-[d:Demand]->(:Building) | d.max_demand] | t + 2 * x) AS wanted,
  reduce(t = 0.0, x IN [(g)<-[s:Supply]-(:Building) | s.current_output + s.max_supply] | t + x)
    AS offered
RETURN b.id AS id, avg(CASE WHEN offered < wanted THEN offered / wanted ELSE 1.0 END) AS rate""",
)

Rows = list[dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """The analysis of one kind of question, with queries by tool, one for each reading step."""

    asks: re.Pattern[str]  # finds the subject of the question
    plan: tuple[str, ...]
    queries: Mapping[str, tuple[str, ...]]
    key: str  # the column of the candidates
    among: Mapping[str, tuple[str, ...]]  # replaces candidates that are not read yet
    otherwise: Mapping[str, str]  # if the first step finds none
    decide: Callable[[list[Rows]], str]  # from the rows of all steps


def _best_node(observed: list[Rows]) -> str:
    """The node where a merchant most increases the value that comes home."""
    values = {row["name"]: float(row["value"]) for row in observed[2]}
    powers = {row["name"]: row for row in observed[1]}

    def gain(row: Mapping[str, str]) -> float:
        node = powers[row["name"]]
        base, power, away = (float(node[column]) for column in ("base", "power", "away"))
        inland = node["is_inland"] in ("1", "true")
        bonus = max(50.0, float(node["development"])) if inland else 0.0
        lift = 1.05 * (base + 2 + bonus) - base
        now = 1.05 * float(row["steered"]) * (away + lift) / (power + lift)
        return values[row["name"]] * (now - float(row["usual"]))

    return max(observed[0], key=gain)["name"]


def _most_added(observed: list[Rows]) -> str:
    """The building that adds most to the supply; the more productive one among equals."""
    rates = {row["id"]: float(row["rate"]) for row in observed[1] if row["rate"] != "null"}
    return max(observed[0], key=lambda row: float(row["growth"]) * rates.get(row["id"], 0.0))["id"]


LOCATING = Analysis(
    asks=re.compile(r'country named "(?P<country>[^"]+)"'),
    plan=(
        "Nodes with power of {country}: share of value that comes home (country, flow, "
        "node_country). If one, decide it; if none, any node.",
        "Their trading power, and the merchant's lift of it (node_country, trade_node).",
        "The value that arrives in each from upstream (trade_node, flow).",
        "Multiply value by the gain in share; take the largest.",
    ),
    queries={"sql": LOCATING_SQL, "cypher": LOCATING_CYPHER},
    key="name",
    among={
        "sql": ("SELECT trade_node FROM node_country WHERE country_name = '{country}'",) * 2,
        "cypher": (
            "n.name",
            "(:Country {{name: '{country}'}})-[:NodeCountry]->(m:Trade_node) | m.name",
        ),
    },
    otherwise={
        "sql": "SELECT trade_node AS name FROM trade_node WHERE trade_node NOT IN "
        "(SELECT home_node FROM country WHERE country_name = '{country}') LIMIT 1",
        "cypher": "MATCH (me:Country {{name: '{country}'}}), (n:Trade_node) "
        "WHERE n.name <> me.home_node RETURN n.name AS name LIMIT 1",
    },
    decide=_best_node,
)

BUILDING = Analysis(
    asks=re.compile(r"market price of (?P<goods>\w+)"),
    plan=(
        "Buildings that supply {goods}, and the output that 5 levels add at full rate (goods, "
        "supply, building). If there is only one, decide it.",
        "The rate of each by its inputs: mean of supply / demand, 1 at most (demand, supply).",
        "Multiply growth by rate; take the largest.",
    ),
    queries={"sql": BUILDING_SQL, "cypher": BUILDING_CYPHER},
    key="id",
    among={
        "sql": ("SELECT building_id FROM supply",),
        "cypher": ("head([(b)-[:Supply]->(:Goods {{name: '{goods}'}}) | b.id])",),
    },
    otherwise={},
    decide=_most_added,
)

_OBSERVATION = re.compile(
    r"^(?:Fact \[\d+\]|Problem): (.*?)(?=^Thought: |^(?:sql|cypher): |^# |\Z)",
    re.MULTILINE | re.DOTALL,
)

_IN_ONE = load("planrag/one_prompt_steps").text
"""Text of a prompt that asks for plan and action in one reply."""

_TASK = re.compile(r"^# Your task now: (.+)$", re.MULTILINE)


def analyst(messages: Sequence[BaseMessage]) -> Reply:
    """Answer one prompt from its text alone."""
    prompt = "\n\n".join(message.text for message in messages)
    method = next((m for m in (LOCATING, BUILDING) if m.asks.search(prompt)), None)
    if method is None:
        raise BadInput("The perfect analyst knows only questions of Locating and Building.")
    asked = {key: text for m in method.asks.finditer(prompt) for key, text in m.groupdict().items()}
    observed = [_parse_rows(text, method) for text in _OBSERVATION.findall(prompt)]
    task = _TASK.findall(prompt)[-1]
    tool = "cypher" if "\n- cypher: " in prompt else "sql"
    if "# How you work" in prompt:
        return _combined_reply(method, asked, observed, task, tool)
    plan = [step.format(**asked) for step in method.plan]
    if _IN_ONE in prompt:
        action = _next_action(method, asked, observed, tool)
        return {**_planning_part(plan, observed), **action}
    match task:
        case "the plan":
            return {"steps": plan}
        case "judge the plan":
            return _judgement(observed)
        case "the decision":
            return _decision(method, observed)
        case _:
            return _next_action(method, asked, observed, tool)


register_provider("analyst", lambda _: ScriptedModel(analyst))


_ALL_EQUAL = "No merchant brings more home: all nodes are equal, take the first."


def _judgement(observed: list[Rows]) -> dict[str, object]:
    if any(observed):
        return {"reason": "The result is what the step needs.", "replan": "N", "steps": []}
    return {"reason": "The query found nothing.", "replan": "Y", "steps": [_ALL_EQUAL]}


def _planning_part(plan: list[str], observed: list[Rows]) -> dict[str, object]:
    """The planning part of a reply, if one prompt asks for plan and action."""
    if not observed:
        return {"steps": plan}
    judged = (
        _judgement(observed) if len(observed) == 1 else _judgement([observed[0] or observed[1]])
    )
    return {"replan": judged["replan"], "steps": judged["steps"]}


def _combined_reply(
    method: Analysis, asked: Mapping[str, str], observed: list[Rows], task: str, tool: str
) -> Reply:
    """As :func:`analyst`, if one reply may hold several actions."""
    read = [*range(1, len(method.queries[tool]) + 1)]
    first = _queries_at_once(method, tool, asked)
    at_once = len(first)
    match task:
        case "the plan":
            return {
                "steps": [
                    {"text": step.format(**asked), "needs": [] if number in read else read}
                    for number, step in enumerate(method.plan, start=1)
                ]
            }
        case "judge the plan":
            step = {"text": _ALL_EQUAL, "needs": []}
            return {"reason": "The query found nothing.", "replan": "Y", "steps": [step]}
        case _ if observed and (observed[0] or len(observed) > at_once):
            facts = [number for number, _ in enumerate(filter(None, observed), start=1)]
            decision = _decision(method, observed[-1:] * len(read) if at_once == 1 else observed)
            answer = {**decision, "facts": facts}
            return {"thought": "The facts suffice.", "actions": [], "answer": answer}
        case _ if observed:
            queries = {method.otherwise[tool].format(**asked): [1]}
        case _:
            queries = first
    actions = [{"tool": tool, "input": query, "completes": n} for query, n in queries.items()]
    return {"thought": "All that is needed, at once.", "actions": actions, "answer": None}


def _queries_at_once(method: Analysis, tool: str, asked: Mapping[str, str]) -> dict[str, list[int]]:
    """Queries that need no earlier result, with the steps that each completes; one in SQL."""
    among = ("", *(text.format(**asked) for text in method.among[tool]))
    queries = [
        query.format(**asked, found=found)
        for query, found in zip(method.queries[tool], among, strict=True)
    ]
    if tool == "cypher":
        return {query: [number] for number, query in enumerate(queries, start=1)}
    joined = f" LEFT JOIN ({{}}) USING ({method.key})"
    query = f"SELECT * FROM ({queries[0]})" + "".join(map(joined.format, queries[1:]))
    return {query: [*range(1, len(queries) + 1)]}


def _next_action(
    method: Analysis, asked: Mapping[str, str], observed: list[Rows], tool: str
) -> dict[str, object]:
    queries, step = method.queries[tool], len(observed)
    if step == 1 and not observed[0] and method.otherwise:
        query = method.otherwise[tool].format(**asked)
    elif step == len(queries) or (step and len(observed[-1]) <= 1):
        return {"thought": "The facts suffice.", "step": 9, "tool": "finish", "input": ""}
    else:
        found = _list_text([row[method.key] for row in observed[0]]) if step else ""
        query = queries[step].format(**asked, found=found)
    return {"thought": f"Step {step + 1}.", "step": step + 1, "tool": tool, "input": query}


def _decision(method: Analysis, observed: list[Rows]) -> Mapping[str, object]:
    found = observed[0] or observed[-1]
    decision = found[0][method.key] if len(found) == 1 else method.decide(observed)
    facts = [number for number, _ in enumerate(filter(None, observed), start=1)]
    return {"why": "It adds most.", "facts": facts, "decision": decision, "unknown": ""}


def _list_text(values: list[str]) -> str:
    return ", ".join(value if value.isdecimal() else f"'{value}'" for value in values)


def _parse_rows(text: str, method: Analysis) -> Rows:
    """The rows below the header line of an observation; empty if it is a problem."""
    lines = text.strip().splitlines()
    while lines and lines[0].split(" | ")[0] != method.key:
        del lines[0]
    columns = lines[0].split(" | ") if lines else []
    return [dict(zip(columns, line.split(" | "), strict=True)) for line in lines[1:]]
