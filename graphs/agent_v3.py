"""Strategy agent V3: plans, sets one task at a time, and answers when the facts are enough.

Figure 3.1 of the thesis: planner → evaluator → answering machine → taskmaster → selector →
executor (the tools) → planner … A given plan bypasses planner and evaluator.
"""

from planweave.graphs.edges import (
    RECURSION_LIMIT,
    answered,
    approval,
    beginning,
    chosen,
    evaluated,
    review,
    revision,
)
from planweave.graphs.parts import bind_tools, bound, method_builder
from planweave.memory import Tool
from planweave.nodes.answering_machine import may_continue
from planweave.nodes.evaluator import evaluator
from planweave.nodes.plan_approval import plan_approval
from planweave.nodes.planner import planner
from planweave.nodes.selector import selector
from planweave.nodes.taskmaster import taskmaster

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator")

builder = method_builder(reads=True)
builder.add_node("planner", planner("agent_v3/planner"))
builder.add_node("evaluator", evaluator("agent_v3/evaluator"))
builder.add_node("plan_approval", plan_approval)
builder.add_node("answering_machine", may_continue("agent_v3/answering_machine"))
builder.add_node("taskmaster", taskmaster("agent_v3/taskmaster"))
builder.add_node("selector", selector("agent_v3/selector", TOOLS))
tool_ends = bind_tools(builder, TOOLS)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "planner", "predefined_plan": "plan_approval"},
)
builder.add_conditional_edges(
    "planner", review, {"to_evaluate": "evaluator", "accepted": "plan_approval"}
)
builder.add_conditional_edges(
    "evaluator", evaluated, {"rejected": "planner", "accepted": "plan_approval"}
)
builder.add_conditional_edges(
    "plan_approval", approval, {"approved": "answering_machine", "rejected": "planner"}
)
builder.add_conditional_edges(
    "answering_machine", answered, {"answered": "citation_check", "going_on": "taskmaster"}
)
builder.add_edge("taskmaster", "selector")
builder.add_conditional_edges(
    "selector",
    chosen,
    bound(TOOLS) | {"finish": "answering_machine", "unreadable": "selector"},
)
for end in tool_ends:
    builder.add_conditional_edges(
        end, revision, {"doubtful": "planner", "sound": "answering_machine"}
    )

graph = builder.compile(name="agent_v3").with_config(recursion_limit=RECURSION_LIMIT)
