"""The settings of a run as a form: the fields of the context, in groups."""

from dataclasses import dataclass

from pydantic import JsonValue

from planweave.graphs import of_family
from planweave.memory import Context


@dataclass(frozen=True)
class Group:
    """Settings that a person thinks of together.

    Attributes:
        title: Its heading.
        fields: Names of fields of the context.
        methods: The methods that read them; empty: all.
    """

    title: str
    fields: tuple[str, ...]
    methods: tuple[str, ...] = ()


GROUPS = (
    Group("Sources", ("database", "graph", "collection", "rules", "candidates")),
    Group("Model", ("model", "models", "temperature", "seed", "max_reply_tokens")),
    Group("Plan", ("approve", "replan", "evaluations", "max_iterations")),
    Group("Budget", ("max_calls", "max_tokens", "max_seconds", "max_dollars")),
    Group(
        "Reading",
        (
            *("search", "reranker", "pages", "page_characters", "corrective", "faithfulness"),
            *("citation_check", "ask_again", "strict", "query_rows", "query_seconds"),
        ),
    ),
    Group(
        "RAT", ("family", "revision", "retrievals", "skip_agreeing", "parallel"), of_family("write")
    ),
    Group(
        "FuRePA",
        (
            *("masking", "assessor", "proposals", "same_query"),
            *("temperature_raise", "first_temperature", "temperature_step"),
        ),
        of_family("hops"),
    ),
    Group("Ensemble", ("ensemble_of", "ensemble_runs", "ensemble_temperature"), ("ensemble",)),
)


def form() -> dict[str, JsonValue]:
    """The context's JSON schema, and its fields in groups; what no group names comes last."""
    named = {field for group in GROUPS for field in group.fields}
    rest = tuple(field for field in Context.model_fields if field not in named)
    groups = (*GROUPS, Group("More", rest))
    return {
        "schema": Context.model_json_schema(),
        "groups": [
            {"title": group.title, "fields": [*group.fields], "methods": [*group.methods]}
            for group in groups
        ],
    }
