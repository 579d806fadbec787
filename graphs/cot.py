"""CoT: thinks step by step, then answers; nothing is looked up (Kojima et al. 2022)."""

from planweave.graphs.edges import RECURSION_LIMIT, beginning
from planweave.graphs.parts import method_builder
from planweave.nodes.drafter import drafter
from planweave.nodes.finisher import finisher

builder = method_builder()
builder.add_node("drafter", drafter)
builder.add_node("finisher", finisher)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "drafter", "predefined_plan": "drafter"},
)
builder.add_edge("drafter", "finisher")
builder.add_edge("finisher", "citation_check")

graph = builder.compile(name="cot").with_config(recursion_limit=RECURSION_LIMIT)
