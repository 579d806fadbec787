"""Whole document: the whole collection goes before the answer, in one prompt and one call."""

from planweave.graphs.edges import RECURSION_LIMIT, beginning
from planweave.graphs.parts import method_builder
from planweave.nodes.evidence import evidence
from planweave.nodes.finisher import finisher
from planweave.nodes.whole_collection import whole_collection

builder = method_builder()
builder.add_node("whole_collection", whole_collection)
builder.add_node("evidence", evidence)
builder.add_node("finisher", finisher)

builder.add_conditional_edges(
    "recall",
    beginning,
    {
        "greeting": "greeter",
        "no_plan": "whole_collection",
        "predefined_plan": "whole_collection",
    },
)
builder.add_edge("whole_collection", "evidence")
builder.add_edge("evidence", "finisher")
builder.add_edge("finisher", "citation_check")

graph = builder.compile(name="whole_document").with_config(recursion_limit=RECURSION_LIMIT)
