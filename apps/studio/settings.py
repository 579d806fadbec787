"""The settings of a run as a form: the fields of the context, in groups."""

from pydantic import JsonValue

from planweave.graphs import METHODS
from planweave.memory import Context, settings

_FIRST = ("Sources", "Model", "Plan", "Reading", "Budget")
_LAST = "More"


def form() -> dict[str, JsonValue]:
    """The context's JSON schema, and its fields in groups, each for the methods that read it."""
    known = dict.fromkeys(
        (*_FIRST, *(one.group for one in settings().values() if one.group != _LAST))
    )
    return {
        "schema": Context.model_json_schema(),
        "groups": [_group(title) for title in (*known, _LAST)],
    }


def _group(title: str) -> dict[str, JsonValue]:
    fields = {name: one for name, one in settings().items() if one.group == title}
    families = {family for one in fields.values() for family in one.families}
    every = any(not one.families for one in fields.values())
    methods = [] if every else [n for n in METHODS if METHODS.get(n).family in families]
    return {"title": title, "fields": [*fields], "methods": [*methods]}
