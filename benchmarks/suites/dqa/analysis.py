"""What a decider read, and why it failed: by fixed rules over its record, without a judge."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, get_args

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from planweave.benchmarks.core.record import MemoryEntry, Record
from planweave.simulators.registry import scenario
from planweave.simulators.scenario import Scenario

FailureClass: TypeAlias = Literal["CAN", "MIS", "DEEP", "QUR", "OTH"]
FAILURE_CLASSES: tuple[FailureClass, ...] = ("CAN", "MIS", "DEEP", "QUR", "OTH")

_QUERIES = ("sql", "cypher")
_CYPHER_NOISE = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|//[^\n]*")
_PROPERTY = re.compile(r"(?<=[\w`)\]])\s*\.\s*`?([A-Za-z_]\w*)")
_BOUND = re.compile(r"[(\[]\s*(\w+)\s*:\s*`?(\w+)")


class Critical(NamedTuple):
    """A value that an analysis needs: the columns that hold it, and those whose sum it is."""

    columns: frozenset[str]
    summed: frozenset[str] = frozenset()


CRITICAL: Mapping[str, Mapping[str, Critical]] = {
    "locating": {
        "IV": Critical(frozenset({"ingoing"}), frozenset({"flow"})),
        "TP_total": Critical(
            frozenset({"total_power"}),
            frozenset({"base_trading_power", "calculated_trading_power"}),
        ),
    },
    "building": {
        "CO": Critical(frozenset({"current_output"})),
        "PD": Critical(frozenset({"pop_demand"})),
    },
}
"""The values that section 5.2 calls critical in each scenario (table 6)."""


class Read(NamedTuple):
    """Columns that appear in queries, and those that appear inside a sum; in lower case."""

    columns: frozenset[str]
    summed: frozenset[str]


def retrievals(record: Record) -> int:
    """How many queries it sent to the database, failed ones included."""
    return sum(turn["tool"] in _QUERIES for turn in record.turns)


def unread(record: Record) -> list[str] | None:
    """The critical values of its scenario that no query with a result read; None if it has none.

    ``SELECT *`` reads all columns of its tables, and a node or relationship that Cypher returns
    whole all its properties. A column counts wherever it is in the query, and so does its sum.
    """
    critical = CRITICAL.get(record.scenario)
    if critical is None:
        return None
    reads = [read(str(turn["tool"]), str(turn["input"]), record.scenario) for turn in _good(record)]
    columns = frozenset[str]().union(*(one.columns for one in reads))
    summed = frozenset[str]().union(*(one.summed for one in reads))
    return [
        name
        for name, value in critical.items()
        if not (value.columns & columns or value.summed & summed)
    ]


def missed(record: Record) -> bool:
    """Whether it decided without any of the critical values: all of them stayed unread."""
    critical = CRITICAL.get(record.scenario)
    return critical is not None and len(unread(record) or ()) == len(critical)


def failure_class(record: Record) -> FailureClass | None:
    """Why an answer is wrong (figure 6); None if it is right. The first rule that holds decides.

    ====  ==========================================================================
    OTH   the run crashed
    QUR   queries were tried, and none brought a row
    CAN   the answer is no candidate, or deciding it is no better than deciding nothing
    OTH   no answer (limit, malformed replies, "cannot be decided")
    MIS   all critical values stayed unread
    DEEP  the data was read, and the wrong conclusion drawn
    ====  ==========================================================================
    """
    if record.score.value == 1:
        return None
    if record.error:
        return "OTH"
    if retrievals(record) and not any(True for _ in _good(record)):
        return "QUR"
    if record.score.answer is None:
        refused = any(failure["kind"] == "not_admitted" for failure in record.failures)
        return "CAN" if refused else "OTH"
    if not record.score.details.get("improves"):
        return "CAN"
    return "MIS" if missed(record) else "DEEP"


def _good(record: Record) -> Iterator[MemoryEntry]:
    """The turns whose query brought rows."""
    return (turn for turn in record.turns if turn["tool"] in _QUERIES and turn.get("facts"))


@lru_cache(maxsize=4096)
def read(tool: str, query: str, scenario_name: str) -> Read:
    """The columns or properties that a query reads."""
    plugin = scenario(scenario_name)
    return _read_sql(query, plugin) if tool == "sql" else _read_cypher(query, plugin)


def _read_sql(query: str, plugin: Scenario) -> Read:
    try:
        tree = sqlglot.parse_one(query, dialect="sqlite")
    except SqlglotError:  # it ran, so its words are names
        return Read(frozenset(re.findall(r"\w+", query.lower())), frozenset())
    tables = {table.name: table for table in plugin.tables}
    columns = {column.name.lower() for column in tree.find_all(exp.Column)}
    for star in tree.find_all(exp.Star):
        select = star.find_ancestor(exp.Select)
        if select is not None and not isinstance(star.parent, exp.Count):
            for table in select.find_all(exp.Table):
                if table.name.lower() in tables:
                    columns.update(tables[table.name.lower()].names)
    sums = [column for total in tree.find_all(exp.Sum) for column in total.find_all(exp.Column)]
    return Read(frozenset(columns), frozenset(column.name.lower() for column in sums))


def _read_cypher(query: str, plugin: Scenario) -> Read:
    text = _CYPHER_NOISE.sub("''", query)
    columns = {name.lower() for name in _PROPERTY.findall(text)}
    returned = re.split(r"(?i)\breturn\b", text)[-1]
    for variable, label in _BOUND.findall(text):
        whole = rf"(?<![.\w])(?<!count\(){re.escape(variable)}(?!\s*\.\s*\w|\w)"
        if re.search(whole, returned, re.IGNORECASE):
            columns.update(_properties(label, plugin))
    sums = (name for part in _sums(text) for name in _PROPERTY.findall(part))
    return Read(frozenset(columns), frozenset(name.lower() for name in sums))


def _properties(label: str, plugin: Scenario) -> Iterator[str]:
    """What a node of that label, or a relationship of that type, holds."""
    tables = {table.name: table.names for table in plugin.tables}
    for node in plugin.graph.nodes:
        if node.label == label:
            yield from (node.property(name).lower() for name in tables[node.table])
    for relationship in plugin.graph.relationships:
        if relationship.type == label:
            yield from (name.lower() for name in tables[relationship.table])


def _sums(text: str) -> Iterator[str]:
    """What is inside each ``sum(…)``."""
    for start in re.finditer(r"(?i)\bsum\s*\(", text):
        depth, end = 1, start.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text[start.end() : end]


Category: TypeAlias = Literal[
    "re-order",
    "replace",
    "change target",
    "add look-up",
    "add calculation",
    "add both actions",
    "divide to sub-steps",
    "others",
    "delete",
    "merge",
]
KINDS: tuple[Category, ...] = get_args(Category)

_LOOK_UP = "retrieve|identify|find|check|list|query|look|get|read|select|search|fetch|collect|join"
_CALCULATION = (
    "calculate|compute|compare|sum|multiply|subtract|divide|estimate|evaluate|rank|sort|determine"
)
_ACTION = re.compile(rf"\b(?:(?P<look_up>{_LOOK_UP})|(?P<calculation>{_CALCULATION}))", re.I)
_RELATED = 0.3
"""Share of common words from which on two steps are about the same thing."""


def category(before: Sequence[str], after: Sequence[str]) -> Category:
    """The category of a change of plan; the paper's people judged, these rules only read words.

    Steps that are in both plans are left aside. With as many steps as before it is a re-order
    if none is new, a change of target if every new step is about the same as one that is gone,
    else a replacement. With more steps, it is a division if two new steps are about the same as
    one that is gone, else it is named after the actions of the new steps. With fewer, it is a
    merge if a new step is about the same as two that are gone, else a deletion.
    """
    old, new = list(map(_words, before)), list(map(_words, after))
    gone = [words for words in old if words not in new]
    come = [words for words in new if words not in old]
    if len(after) == len(before):
        if not come:
            return "re-order"
        return "change target" if all(_related(words, gone) for words in come) else "replace"
    if len(after) < len(before):
        return "merge" if any(_related(words, gone) > 1 for words in come) else "delete"
    if any(_related(words, come) > 1 for words in gone):
        return "divide to sub-steps"
    return _added([step for step, words in zip(after, new, strict=True) if words not in old])


def _added(steps: Sequence[str]) -> Category:
    found = {match.lastgroup for step in steps if (match := _ACTION.search(step))}
    if found == {"look_up", "calculation"}:
        return "add both actions"
    if found == {"look_up"}:
        return "add look-up"
    return "add calculation" if found == {"calculation"} else "others"


def _related(words: frozenset[str], others: Sequence[frozenset[str]]) -> int:
    """How many of ``others`` are about the same as ``words``."""
    return sum(len(words & other) >= _RELATED * len(words | other) for other in others)


def _words(step: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", step.lower()))
