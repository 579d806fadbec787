"""The settings of a run as a form: the fields of the context, in groups."""

from functools import cache

from pydantic import JsonValue

from planweave.graphs import METHODS
from planweave.memory import Context, settings

_FIRST = ("Sources", "Model", "Plan", "Reading", "Budget")
_LAST = "More"
_PLANS = ("planrag", "planrag_no_replan", "agent_v3")
_NO_QUERIES = ("rat", "rag", "cot", "direct", "whole_document", "furepa", "ircot")
_NO_SEARCH = ("path_policy", "cot", "direct", "whole_document")
_ONE_STEP = ("single_rag", "path_policy", "agent_v1", *_NO_QUERIES)
_QUERIED = tuple(name for name in METHODS if name not in _NO_QUERIES)
_SEARCHED = tuple(name for name in METHODS if name not in _NO_SEARCH)
_ONLY: dict[str, tuple[str, ...]] = {
    "approve": _PLANS,
    "replan": ("planrag",),
    "evaluations": ("agent_v3",),
    "experience": ("planrag", "path_policy"),
    "approve_tools": tuple(name for name in METHODS if name not in _ONE_STEP),
    "parallel": tuple(name for name in METHODS if name not in (*_ONE_STEP, "autogpt")),
    **dict.fromkeys(
        (
            *("database", "graph", "query_seconds", "query_rows", "query_candidates"),
            "least_answerable",
        ),
        _QUERIED,
    ),
    **dict.fromkeys(("pages", "search"), _SEARCHED),
}
"""Settings that are read by some methods of several families alone."""


@cache
def form() -> dict[str, JsonValue]:
    """The context's JSON schema, and its fields in groups, each for the methods that read it."""
    known = dict.fromkeys(
        (*_FIRST, *(one.group for one in settings().values() if one.group != _LAST))
    )
    return {
        "schema": Context.model_json_schema(),
        "groups": [_group(title) for title in (*known, _LAST)],
        "only": {name: list(methods) for name, methods in _ONLY.items()},
    }


def _group(title: str) -> dict[str, JsonValue]:
    fields = {name: one for name, one in settings().items() if one.group == title}
    families = {family for one in fields.values() for family in one.families}
    every = any(not one.families for one in fields.values())
    methods = [] if every else [n for n in METHODS if METHODS.get(n).family in families]
    return {"title": title, "fields": [*fields], "methods": [*methods]}
