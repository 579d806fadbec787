"""ReAct: thought, action and observation in turn, until it finishes (Yao et al. 2023).

A question is answered with the tools, a task of an environment by acting there.
"""

from planweave.graphs.edges import RECURSION_LIMIT, chosen, opening
from planweave.graphs.parts import (
    act_and_observe,
    bind_environment,
    bind_tools,
    bound,
    method_builder,
)
from planweave.memory import Tool
from planweave.nodes.actor import actor, unguided
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator")

builder = method_builder(reads=True)
builder.add_node("selector", selector("react/selector", (*TOOLS, "finish")))
builder.add_node("answering_machine", answering_machine)
tool_ends = bind_tools(builder, TOOLS)

builder.add_conditional_edges(
    "recall",
    opening,
    {
        "task": "actor",
        "greeting": "greeter",
        "no_plan": "selector",
        "predefined_plan": "selector",
    },
)
builder.add_conditional_edges(
    "selector", chosen, bound(TOOLS) | {"finish": "answering_machine", "unreadable": "selector"}
)
for end in tool_ends:
    builder.add_edge(end, "selector")
builder.add_edge("answering_machine", "citation_check")

builder.add_node("actor", actor(unguided))
bind_environment(builder)
act_and_observe(builder, "actor", then="actor")

graph = builder.compile(name="react").with_config(recursion_limit=RECURSION_LIMIT)
