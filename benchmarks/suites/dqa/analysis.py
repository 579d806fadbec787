"""Finds by fixed rules over a record which data a decider read, and why it failed."""

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
    """A value that an analysis needs: columns that hold it, and columns that sum to it."""

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
"""The critical values of each scenario (section 5.2, table 6)."""


class Read(NamedTuple):
    """Columns in queries, and those inside a sum; in lower case."""

    columns: frozenset[str]
    summed: frozenset[str]


def retrievals(record: Record) -> int:
    """Number of queries sent to the database, including failed ones."""
    return sum(turn["tool"] in _QUERIES for turn in record.turns)


def unread_values(record: Record) -> list[str] | None:
    """The scenario's critical values that no query with rows read; None if it has none.

    ``SELECT *`` reads all columns of its tables; a whole node or relationship returned by Cypher
    reads all its properties. A column or sum counts anywhere in the query.
    """
    critical = CRITICAL.get(record.scenario)
    if critical is None:
        return None
    reads = [
        read_columns(str(turn["tool"]), str(turn["input"]), record.scenario)
        for turn in _turns_with_rows(record)
    ]
    columns = frozenset[str]().union(*(one.columns for one in reads))
    summed = frozenset[str]().union(*(one.summed for one in reads))
    return [
        name
        for name, value in critical.items()
        if not (value.columns & columns or value.summed & summed)
    ]


def has_missed_all(record: Record) -> bool:
    """Whether all critical values stayed unread."""
    critical = CRITICAL.get(record.scenario)
    return critical is not None and len(unread_values(record) or ()) == len(critical)


def failure_class(record: Record) -> FailureClass | None:
    """Why an answer is wrong (figure 6); None if it is right. The first matching rule decides.

    ====  ==========================================================================
    OTH   the run crashed
    QUR   queries were tried, and none brought a row
    CAN   the answer is no candidate, or no better than deciding nothing
    OTH   no answer (limit, malformed replies, "cannot be decided")
    MIS   all critical values stayed unread
    DEEP  the data was read, but the conclusion is wrong
    ====  ==========================================================================
    """
    if record.score.value == 1:
        return None
    if record.error:
        return "OTH"
    if retrievals(record) and not any(True for _ in _turns_with_rows(record)):
        return "QUR"
    if record.score.answer is None:
        refused = any(failure["kind"] == "not_admitted" for failure in record.failures)
        return "CAN" if refused else "OTH"
    if not record.score.details.get("improves"):
        return "CAN"
    return "MIS" if has_missed_all(record) else "DEEP"


def _turns_with_rows(record: Record) -> Iterator[MemoryEntry]:
    return (turn for turn in record.turns if turn["tool"] in _QUERIES and turn.get("facts"))


@lru_cache(maxsize=4096)
def read_columns(tool: str, query: str, scenario_name: str) -> Read:
    """The columns or properties that a query reads."""
    plugin = scenario(scenario_name)
    return _read_sql(query, plugin) if tool == "sql" else _read_cypher(query, plugin)


def _read_sql(query: str, plugin: Scenario) -> Read:
    try:
        tree = sqlglot.parse_one(query, dialect="sqlite")
    except SqlglotError:  # the query ran, so its words are names
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
            columns.update(_all_properties(label, plugin))
    sums = (name for part in _sum_arguments(text) for name in _PROPERTY.findall(part))
    return Read(frozenset(columns), frozenset(name.lower() for name in sums))


def _all_properties(label: str, plugin: Scenario) -> Iterator[str]:
    """The properties of a node with that label, or of a relationship of that type."""
    tables = {table.name: table.names for table in plugin.tables}
    for node in plugin.graph.nodes:
        if node.label == label:
            yield from (node.property(name).lower() for name in tables[node.table])
    for relationship in plugin.graph.relationships:
        if relationship.type == label:
            yield from (name.lower() for name in tables[relationship.table])


def _sum_arguments(text: str) -> Iterator[str]:
    """The argument of each ``sum(…)``."""
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
"""Least share of common words at which two steps are related."""


def replan_category(before: Sequence[str], after: Sequence[str]) -> Category:
    """The category of a change of plan. In the paper, people judged it; here, rules read words.

    Steps in both plans are ignored. With the same number of steps, it is a re-order if no step is
    new, a change of target if every new step is related to a removed one, else a replacement. With
    more steps, it is a division if two new steps are related to one removed step; else the actions
    of the new steps name it. With fewer steps, it is a merge if a new step is related to two
    removed ones, else a deletion.
    """
    old, new = list(map(_words, before)), list(map(_words, after))
    removed = [words for words in old if words not in new]
    added = [words for words in new if words not in old]
    if len(after) == len(before):
        if not added:
            return "re-order"
        return (
            "change target" if all(_count_related(words, removed) for words in added) else "replace"
        )
    if len(after) < len(before):
        return "merge" if any(_count_related(words, removed) > 1 for words in added) else "delete"
    if any(_count_related(words, added) > 1 for words in removed):
        return "divide to sub-steps"
    return _added_category(
        [step for step, words in zip(after, new, strict=True) if words not in old]
    )


def _added_category(steps: Sequence[str]) -> Category:
    found = {match.lastgroup for step in steps if (match := _ACTION.search(step))}
    if found == {"look_up", "calculation"}:
        return "add both actions"
    if found == {"look_up"}:
        return "add look-up"
    return "add calculation" if found == {"calculation"} else "others"


def _count_related(words: frozenset[str], others: Sequence[frozenset[str]]) -> int:
    """Number of ``others`` that are related to ``words``."""
    return sum(len(words & other) >= _RELATED * len(words | other) for other in others)


def _words(step: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", step.lower()))
