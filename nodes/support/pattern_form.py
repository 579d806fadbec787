"""Forms for graph patterns that small models get wrong: missing links and chains of links."""

import re

from planweave.prompts import load
from planweave.tools import Database
from planweave.tools.cypher.links import asked_hops, can_chain
from planweave.tools.database import Schema

_QUOTED = re.compile(r"(?<!\w)(['\"]).*?\1(?!\w)")
_NOT = r"(?: not|n['\u2019]t)\b"
_NONE = re.compile(
    r"\b(?:never|without)\b|\b(?:with|do|does|did|has|have|had|that|which) no\b"
    rf"|\b(?:do|does|did|has|have|had){_NOT}"
    rf"|\b(?:is|are|was|were){_NOT}[^.?;]*\b(?:by|any|in|on|at|to)\b",
    re.IGNORECASE,
)


def pattern_form(question: str, database: Database) -> str:
    """The form for the pattern that a question asks for; empty if none is known."""
    if database.kind != "graph":
        return ""
    if (hops := asked_hops(question)) and (types := _chainable_types(database.schema())):
        type_, label = types[0] if len(types) == 1 else ("<type>", "<label>")
        return load("query_writer/chain").fill(type=type_, label=label, hops=hops)
    is_denied = _NONE.search(_QUOTED.sub("", question))
    return load("query_writer/no_link").fill() if is_denied else ""


def _chainable_types(schema: Schema) -> list[tuple[str, str]]:
    """The types whose links can form a chain, each with the labels at both ends."""
    return [
        (entity.name, label)
        for entity in schema.entities
        if entity.kind == "relationship" and can_chain(entity)
        for label in entity.start
        if label in entity.end
    ]
