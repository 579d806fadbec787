"""PlanRAG: plans first, retrieves by the plan, and re-plans when the plan falls short.

The loop of figure 3 (b): planner → selector → tool → re-planner → selector … → answering machine.
The plan lives in working memory, and re-planning is an edge of the graph.
"""

from langgraph.graph import END, START, StateGraph

from graphs.edges import RECURSION_LIMIT, approval, beginning, chosen, doubt
from memory import Context, Input, WorkingMemory
from nodes.answering_machine import answering_machine
from nodes.calculator import calculator
from nodes.cypher import cypher
from nodes.greeter import greeter
from nodes.intake import intake
from nodes.plan_approval import plan_approval
from nodes.planner import planner
from nodes.replanner import replanner
from nodes.selector import selector
from nodes.sql import sql
from nodes.thinking import thinking

builder = StateGraph(WorkingMemory, context_schema=Context, input_schema=Input)

builder.add_node("intake", intake)
builder.add_node("greeter", greeter)
builder.add_node("planner", planner("planrag/planner"))
builder.add_node("plan_approval", plan_approval)
builder.add_node(
    "selector",
    selector("planrag/selector", ("sql", "cypher", "calculator", "thinking", "replan", "finish")),
)
builder.add_node("sql", sql)
builder.add_node("cypher", cypher)
builder.add_node("calculator", calculator)
builder.add_node("thinking", thinking)
builder.add_node("replanner", replanner("planrag/replanner"))
builder.add_node("answering_machine", answering_machine)

builder.add_edge(START, "intake")
builder.add_conditional_edges(
    "intake",
    beginning,
    {"greeting": "greeter", "no_plan": "planner", "predefined_plan": "plan_approval"},
)
builder.add_edge("planner", "plan_approval")
builder.add_conditional_edges(
    "plan_approval", approval, {"approved": "selector", "rejected": "planner"}
)
builder.add_conditional_edges(
    "selector",
    chosen,
    {
        "sql": "sql",
        "cypher": "cypher",
        "calculator": "calculator",
        "thinking": "thinking",
        "replan": "replanner",
        "finish": "answering_machine",
        "unreadable": "selector",
    },
)
for tool in ("sql", "cypher", "calculator", "thinking"):
    builder.add_conditional_edges(tool, doubt, {"doubtful": "replanner", "sound": "selector"})
builder.add_edge("replanner", "selector")
builder.add_edge("greeter", END)
builder.add_edge("answering_machine", END)

graph = builder.compile(name="planrag").with_config(recursion_limit=RECURSION_LIMIT)
