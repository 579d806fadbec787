"""PlanRAG without re-planning: plans first and retrieves by that plan to the end (table 4)."""

from planweave.graphs.edges import RECURSION_LIMIT, approval, beginning, chosen
from planweave.graphs.parts import bind_tools, bound, method_builder
from planweave.memory import Tool
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.plan_approval import plan_approval
from planweave.nodes.planner import planner
from planweave.nodes.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", "thinking")

builder = method_builder(reads=True)
builder.add_node(
    "planner",
    planner(
        "planrag/planner",
        with_documents="planrag/planner_with_documents",
        following="planrag/planner_following",
    ),
)
builder.add_node("plan_approval", plan_approval)
builder.add_node("selector", selector("planrag/selector", (*TOOLS, "finish")))
builder.add_node("answering_machine", answering_machine)
tool_ends = bind_tools(builder, TOOLS)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "planner", "predefined_plan": "plan_approval"},
)
builder.add_edge("planner", "plan_approval")
builder.add_conditional_edges(
    "plan_approval", approval, {"approved": "selector", "rejected": "planner"}
)
builder.add_conditional_edges(
    "selector", chosen, bound(TOOLS) | {"finish": "answering_machine", "unreadable": "selector"}
)
for end in tool_ends:
    builder.add_edge(end, "selector")
builder.add_edge("answering_machine", "citation_check")

graph = builder.compile(name="planrag_no_replan").with_config(recursion_limit=RECURSION_LIMIT)
