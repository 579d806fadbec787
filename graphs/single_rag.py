"""Single-turn RAG: one query written from question, rules and schema, run once, then the answer."""

from planweave.graphs.edges import RECURSION_LIMIT, chosen, starting
from planweave.graphs.parts import bind_tools, bound, method_builder
from planweave.memory import Tool
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents")

builder = method_builder(reads=True)
builder.add_node("selector", selector("single_rag/selector", TOOLS))
builder.add_node("answering_machine", answering_machine)
tool_ends = bind_tools(builder, TOOLS)

builder.add_conditional_edges(
    "recall",
    starting,
    {
        "greeting": "greeter",
        "read": "answering_machine",
        "no_plan": "selector",
        "predefined_plan": "selector",
    },
)
builder.add_conditional_edges(
    "selector",
    chosen,
    bound(TOOLS) | {"finish": "answering_machine", "unreadable": "answering_machine"},
)
for end in tool_ends:
    builder.add_edge(end, "answering_machine")
builder.add_edge("answering_machine", "citation_check")

graph = builder.compile(name="single_rag").with_config(recursion_limit=RECURSION_LIMIT)
