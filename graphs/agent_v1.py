"""Strategy agent V1: rewrites the question, retrieves once, writes the answer."""

from planweave.graphs.edges import RECURSION_LIMIT, chosen, starting
from planweave.graphs.parts import bind_tools, bound, method_builder
from planweave.memory import Tool
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents")

builder = method_builder(reads=True)
builder.add_node("rewriter", selector("agent_v1/rewriter", TOOLS))
builder.add_node("answering_machine", answering_machine)
tool_ends = bind_tools(builder, TOOLS)

builder.add_conditional_edges(
    "recall",
    starting,
    {
        "greeting": "greeter",
        "read": "answering_machine",
        "no_plan": "rewriter",
        "predefined_plan": "rewriter",
    },
)
builder.add_conditional_edges(
    "rewriter",
    chosen,
    bound(TOOLS) | {"finish": "answering_machine", "unreadable": "answering_machine"},
)
for end in tool_ends:
    builder.add_edge(end, "answering_machine")
builder.add_edge("answering_machine", "citation_check")

graph = builder.compile(name="agent_v1").with_config(recursion_limit=RECURSION_LIMIT)
