"""AutoGPT: thoughts, a plan and criticism before every command, until it finishes."""

from planweave.graphs.edges import RECURSION_LIMIT, beginning, chosen
from planweave.graphs.parts import bind_tools, bound, method_builder
from planweave.memory import Tool
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.autogpt import autogpt

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator")

builder = method_builder(reads=True)
builder.add_node("autogpt", autogpt("autogpt/autogpt", (*TOOLS, "finish")))
builder.add_node("answering_machine", answering_machine)
tool_ends = bind_tools(builder, TOOLS)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "autogpt", "predefined_plan": "autogpt"},
)
builder.add_conditional_edges(
    "autogpt", chosen, bound(TOOLS) | {"finish": "answering_machine", "unreadable": "autogpt"}
)
for end in tool_ends:
    builder.add_edge(end, "autogpt")
builder.add_edge("answering_machine", "citation_check")

graph = builder.compile(name="autogpt").with_config(recursion_limit=RECURSION_LIMIT)
