"""Path policy: decides by a learned path alone, without any language model.

Experience → path follower → query → path answer: what is left of PlanRAG with experience when no
model takes part. It shows what the experience is worth by itself.
"""

from planweave.graphs.edges import RECURSION_LIMIT, beginning, chosen, following
from planweave.graphs.parts import bind_tools, method_builder
from planweave.memory import Tool
from planweave.nodes.experience import experience
from planweave.nodes.path_answer import path_answer
from planweave.nodes.path_follower import path_follower

TOOLS: tuple[Tool, ...] = ("sql", "cypher")

builder = method_builder()
builder.add_node("experience", experience(always=True))
builder.add_node("path_follower", path_follower)
builder.add_node("path_answer", path_answer)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "experience", "predefined_plan": "experience"},
)
for end in ("experience", *bind_tools(builder, TOOLS)):
    builder.add_conditional_edges(
        end, following, {"followed": "path_follower", "ended": "path_answer"}
    )
builder.add_conditional_edges(
    "path_follower", chosen, {"sql": "sql", "cypher": "cypher", "finish": "path_answer"}
)
builder.add_edge("path_answer", "citation_check")

graph = builder.compile(name="path_policy").with_config(recursion_limit=RECURSION_LIMIT)
