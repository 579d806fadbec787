"""Patterns that a small model writes wrongly: of no link, and of links that follow one another."""

import re

from planweave.prompts import load
from planweave.tools import Database
from planweave.tools.database import Schema

_NOT = r"(?: not|n['\u2019]t)\b"
_NONE = re.compile(
    r"\b(?:never|without)\b|\b(?:with|has|have|had) no\b"
    rf"|\b(?:do|does|did|has|have|had){_NOT}"
    rf"|\b(?:is|are|was|were){_NOT}[^.?;]*\b(?:by|any|in|on|at|to)\b",
    re.IGNORECASE,
)
_ANY = re.compile(r"\bdirectly or\b|\bindirect|\btransitive|\bhowever (?:far|many|long)\b", re.I)
_STEPS = r"(?:\w+ )?(?:relationship|link|step|hop|stop|level|degree|generation)s?\b"
_SPAN = re.compile(rf"\b(?P<least>\d+) (?:to|or|and) (?P<most>\d+) {_STEPS}", re.IGNORECASE)
_MOST = re.compile(rf"\b(?:at most|up to|within|no more than) (?P<most>\d+) {_STEPS}", re.I)


def pattern_form(question: str, database: Database) -> str:
    """The form of the pattern that a question asks for; empty if none is known."""
    if database.kind != "graph":
        return ""
    if hops := _hops(question):
        chained = _chained(database.schema())
        if chained:
            type_ = chained[0] if len(chained) == 1 else "<type>"
            return load("query_writer/chain").fill(type=type_, hops=hops)
    return load("query_writer/no_link").fill() if _NONE.search(question) else ""


def _hops(question: str) -> str:
    """How many links follow one another, as Cypher writes it; empty if it is not said."""
    if found := _SPAN.search(question):
        return f"{found['least']}..{found['most']}"
    if found := _MOST.search(question):
        return f"1..{found['most']}"
    return "1.." if _ANY.search(question) else ""


def _chained(schema: Schema) -> list[str]:
    """The types that lead from a label to the same label."""
    return [
        entity.name
        for entity in schema.entities
        if entity.kind == "relationship" and {*entity.start} & {*entity.end}
    ]
