"""Direct: asks for the answer, program, plan or text at once, without thoughts or retrieval."""

from planweave.graphs.edges import RECURSION_LIMIT, beginning
from planweave.graphs.parts import method_builder
from planweave.nodes.finisher import finisher

builder = method_builder()
builder.add_node("finisher", finisher)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "finisher", "predefined_plan": "finisher"},
)
builder.add_edge("finisher", "citation_check")

graph = builder.compile(name="direct").with_config(recursion_limit=RECURSION_LIMIT)
