"""Forms in the prompt for a query: small models fill them in, but rarely write such queries."""

import re
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from planweave.prompts import load
from planweave.texts import COUNT
from planweave.tools import Database
from planweave.tools.asked_average import CLAUSE, find_inner_aggregate
from planweave.tools.cypher.links import asked_hops, can_chain
from planweave.tools.linking import parts_of, plain, singular
from planweave.tools.present import depends_on_present, find_spans, find_year_parts
from planweave.tools.rules import find_stated_present
from planweave.tools.sql import SqlDatabase

_RATIO = re.compile(r"\b(?:ratio|proportion) of (?P<sides>[^.?;]+)", re.IGNORECASE)
_ALL = re.compile(
    r"^(?:the )?(?:total (?:number|count) of|number of all|all)(?: the| of the)? (?P<noun>\w+)\W*$",
    re.I,
)
_NUMBER = re.compile(r"^(?:the )?(?:number|count) of (?:the )?|^the ", re.IGNORECASE)
_AMOUNTS = frozenset({"cost", "expense", "payment", "sale", "spending"})
"""Words that may mean the rows of a table or their sum."""
_END = r"(?:(?P<first{0}>first|earliest)|last|latest|newest|most recent)\b"
_SPAN = rf"(?:(?:{COUNT})\b|years?\b|months?\b|weeks?\b|quarters?\b|days\b)"
_TIME = r"\b(?:dates?|days?|times?|when)\b"
_OF_EACH = r"\b(?:each|every|all)\b(?! (?:quarter|month|week|year|day)s?\b)"
_ENDS = re.compile(
    rf"{_OF_EACH}[^.?;]{{0,400}}{_TIME}{CLAUSE}\b{_END.format(1)}(?!\W*$|[.,;?]| {_SPAN}| names?\b)"
    rf"|{_OF_EACH}[^.?;]{{0,400}}\b{_END.format(2)} (?:date|day|time)\b"
    rf"|\bwhen\b[^.?;]{{0,400}}\b(?:each|every)\b[^.?;]{{0,400}}\b{_END.format(3)}"
    rf"|{_TIME} of {CLAUSE}\b{_END.format(4)}[^.?;]{{0,400}}\b(?:of|for) (?:each|every)\b"
    rf"|{_OF_EACH}[^.?;]{{0,400}}\b(?:its|their) {_END.format(5)} \w+ (?:date|day|time)\b",
    re.IGNORECASE,
)
_BOTH_ENDS = re.compile(r"\bfirst\b.*\b(?:last|latest)\b", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\w)(['\"]).*?\1(?!\w)")
_NOT = r"(?: not|n['\u2019]t)\b"
_NONE = re.compile(
    r"\b(?:never|without)\b|\b(?:with|do|does|did|has|have|had|that|which) no\b"
    rf"|\b(?:do|does|did|has|have|had){_NOT}"
    rf"|\b(?:is|are|was|were){_NOT}[^.?;]*\b(?:by|any|in|on|at|to)\b",
    re.IGNORECASE,
)


def fill_ratio_form(question: str, database: Database) -> str:
    """The form for the ratio of two counts; empty if the question asks for none.

    "The ratio of papers from 2020 to papers from 2019" counts rows of one table, "of papers to
    authors" those of two, "of papers from 2020 to all papers" is a share. A ratio of two values of
    one row needs no form.
    """
    found = _RATIO.search(question)
    if not found or not isinstance(database, SqlDatabase):
        return ""
    tables = {_singular_name(entity.name): entity.name for entity in database.schema().entities}
    parts = found["sides"].split(" to ")
    whole = _ALL.search(parts[-1])
    if whole and (group := _find_counted(parts[0], tables)) and group.is_limited:
        is_same = singular(whole["noun"].casefold()) == group.noun
        return load("query_writer/ratio_of_all").fill() if is_same else ""
    for place in range(1, len(parts)):
        first = _find_counted(" to ".join(parts[:place]), tables)
        second = _find_counted(" to ".join(parts[place:]), tables)
        if not first or not second:
            continue
        if first.noun == second.noun and first.is_limited and second.is_limited:
            return load("query_writer/ratio_of_groups").fill()
        if first.noun != second.noun and not first.is_limited:
            names = {"first": tables[first.noun], "second": tables[second.noun]}
            return load("query_writer/ratio_of_tables").fill(**names)
    return ""


def fill_each_form(question: str, database: Database) -> str:
    """The form for an average of sums, or for the first or last of each; empty for others.

    "The average of the totals of each customer" adds up first, and "the average number of orders
    per customer" counts first. "The day of the last visit of each dog" needs a group for each dog.
    """
    if not isinstance(database, SqlDatabase):
        return ""
    names = [field.name for entity in database.schema().entities for field in entity.fields]
    if added := find_inner_aggregate(question, names):
        what = "SUM(<value>)" if added == "sum" else "COUNT(*)"
        return load("query_writer/average_of_each").fill(added=what)
    end = _ENDS.search(question)
    if not end or _BOTH_ENDS.search(question):
        return ""
    is_first = any(end[f"first{place}"] for place in range(1, 6))
    return load("query_writer/end_of_each").fill(end="MIN" if is_first else "MAX")


def fill_pattern_form(question: str, database: Database) -> str:
    """The form for a chain of links in a graph or for missing links; empty for others."""
    if database.kind != "graph":
        return ""
    if hops := asked_hops(question):
        types = [
            (entity.name, label)
            for entity in database.schema().entities
            if entity.kind == "relationship" and can_chain(entity)
            for label in entity.start
            if label in entity.end
        ]
        if types:
            type_, label = types[0] if len(types) == 1 else ("<type>", "<label>")
            return load("query_writer/chain").fill(type=type_, label=label, hops=hops)
    is_denied = _NONE.search(_QUOTED.sub("", question))
    return load("query_writer/no_link").fill() if is_denied else ""


def fill_present_form(question: str, now: str, *texts: str) -> str:
    """The days that a question names, or today; empty if it depends on neither.

    Args:
        question: The question.
        now: The time of the question; the clock's time if empty.
        texts: Rules and notes; a present that they state takes precedence.
    """
    found = [*find_year_parts(question)]
    if not found and not depends_on_present(question):
        return ""
    stated = find_stated_present("\n".join(texts))
    today = stated or (date.fromisoformat(now[:10]) if now else date.today())
    lines = []
    for phrase, first, last in (*found, *find_spans(question, today)):
        name, days = ("day", {}) if first == last else ("span", {"last": f"{last}"})
        lines.append(load(f"query_writer/{name}").fill(said=phrase, first=f"{first}", **days))
    # Beside a span, small models would ask for today alone.
    return " ".join(lines) or load("query_writer/now").fill(today=f"{today}")


class _Counted(NamedTuple):
    """What one side of a ratio counts, and whether it limits which rows count."""

    noun: str
    is_limited: bool


def _find_counted(side: str, tables: Iterable[str]) -> _Counted | None:
    """The rows of a table that a side of a ratio counts; None if it is something else.

    "Core courses" and "courses that have exams" are courses; "the area of all lakes" is an area.
    """
    words = [singular(word) for word in plain(_NUMBER.sub("", side.strip())).split()]
    place = next((i for i, word in enumerate(words) if word in tables), None)
    if place is None or words[place] in _AMOUNTS:
        return None
    if {"of", "all", "its", "their", "each", "per"} & {*words[:place]}:
        return None
    return _Counted(words[place], len(words) > 1)


def _singular_name(table: str) -> str:
    return " ".join(singular(part.casefold()) for part in parts_of(table))
