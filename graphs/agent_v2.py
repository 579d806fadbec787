"""Strategy agent V2: one prompt chooses each search, every result becomes a fact."""

from planweave.graphs.edges import RECURSION_LIMIT, beginning, chosen
from planweave.graphs.parts import bind_tools, bound, method_builder
from planweave.memory import Tool
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents")

builder = method_builder(reads=True)
builder.add_node("selector", selector("agent_v2/selector", (*TOOLS, "finish")))
builder.add_node("answering_machine", answering_machine)
tool_ends = bind_tools(builder, TOOLS)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "selector", "predefined_plan": "selector"},
)
builder.add_conditional_edges(
    "selector", chosen, bound(TOOLS) | {"finish": "answering_machine", "unreadable": "selector"}
)
for end in tool_ends:
    builder.add_edge(end, "selector")
builder.add_edge("answering_machine", "citation_check")

graph = builder.compile(name="agent_v2").with_config(recursion_limit=RECURSION_LIMIT)
