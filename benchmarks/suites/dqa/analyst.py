"""The perfect analyst: a script instead of a model that answers the published questions.

``planweave bench dqa --model analyst:perfect`` uses it; errors that remain are not the model's. It
sees only the prompts, writes a plan and two or three short queries per question, in the language of
the connected database, and decides from the rows in the prompt. If a reply may hold several
actions, it sends all queries at once, marks the steps as complete, and decides in the last reply.

**Locating.** Trade runs downstream. Of a node's value the part away / power leaves (away: the power
of countries that are at home elsewhere), is split over the destinations and gains 5 % on the way.
So one unit of value at a node brings ``usual`` units home; a merchant raises the part that leaves
by its ``lift`` and sends it to the one destination from which most comes home (``steered`` units
for each). The merchant is worth most where value · (what it brings home now - ``usual``) is
largest. As in the published answers, power counts each country twice (once in ``total_power``) and
value starts from ``ingoing``.

**Building.** A building works at the mean rate at which its inputs are met, so five levels add 5 /
level · max_supply · rate to the supply. As in the published answers, demand counts each building
twice, and a building without inputs keeps its output.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import yaml
from langchain_core.messages import BaseMessage
from pydantic import BaseModel, TypeAdapter

from planweave.errors import BadInput
from planweave.models import register_provider
from planweave.prompts import load
from planweave.testing import Reply, ScriptedModel

Rows = list[dict[str, str]]


class Analysis(BaseModel, frozen=True):
    """The analysis of one kind of question, as ``analyst.yaml`` describes it."""

    asks: re.Pattern[str]  # finds the subject of the question
    key: str  # the column of the candidates
    plan: tuple[str, ...]
    queries: dict[str, tuple[str, ...]]  # by tool, one for each reading step
    among: dict[str, tuple[str, ...]]  # replaces candidates that are not read yet
    otherwise: dict[str, str] = {}  # if the first step finds none
    edges: dict[str, str] = {}  # the beginning of queries that hold {edges}

    def query(self, tool: str, step: int, **values: str) -> str:
        """The query of a step, filled in."""
        text = self.queries[tool][step].replace("{edges}", self.edges.get(tool, ""))
        return text.format(**values)


@cache
def _load_analyses() -> tuple[Analysis, ...]:
    text = Path(__file__).with_suffix(".yaml").read_text("utf-8")
    found = TypeAdapter(dict[str, Analysis]).validate_python(yaml.safe_load(text))
    return tuple(found.values())


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


_DECIDE: dict[str, Callable[[list[Rows]], str]] = {"name": _best_node, "id": _most_added}
"""The function that decides from the rows of all steps, by the column of the candidates."""

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
    method = next((one for one in _load_analyses() if one.asks.search(prompt)), None)
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
    queries = [method.query(tool, step, found=found, **asked) for step, found in enumerate(among)]
    if tool == "cypher":
        return {query: [number] for number, query in enumerate(queries, start=1)}
    joined = f" LEFT JOIN ({{}}) USING ({method.key})"
    query = f"SELECT * FROM ({queries[0]})" + "".join(map(joined.format, queries[1:]))
    return {query: [*range(1, len(queries) + 1)]}


def _next_action(
    method: Analysis, asked: Mapping[str, str], observed: list[Rows], tool: str
) -> dict[str, object]:
    step = len(observed)
    if step == 1 and not observed[0] and method.otherwise:
        query = method.otherwise[tool].format(**asked)
    elif step == len(method.queries[tool]) or (step and len(observed[-1]) <= 1):
        return {"thought": "The facts suffice.", "step": 9, "tool": "finish", "input": ""}
    else:
        found = _list_text([row[method.key] for row in observed[0]]) if step else ""
        query = method.query(tool, step, found=found, **asked)
    return {"thought": f"Step {step + 1}.", "step": step + 1, "tool": tool, "input": query}


def _decision(method: Analysis, observed: list[Rows]) -> Mapping[str, object]:
    found = observed[0] or observed[-1]
    decision = found[0][method.key] if len(found) == 1 else _DECIDE[method.key](observed)
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
