"""PlanRAG without re-planning: plans first and retrieves by that plan to the end (table 4)."""

from langgraph.graph import END, START, StateGraph

from graphs.edges import RECURSION_LIMIT, approval, beginning, chosen
from memory import Context, Input, WorkingMemory
from nodes.answering_machine import answering_machine
from nodes.calculator import calculator
from nodes.cypher import cypher
from nodes.greeter import greeter
from nodes.intake import intake
from nodes.plan_approval import plan_approval
from nodes.planner import planner
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
    selector("planrag/selector", ("sql", "cypher", "calculator", "thinking", "finish")),
)
builder.add_node("sql", sql)
builder.add_node("cypher", cypher)
builder.add_node("calculator", calculator)
builder.add_node("thinking", thinking)
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
        "finish": "answering_machine",
        "unreadable": "selector",
    },
)
for tool in ("sql", "cypher", "calculator", "thinking"):
    builder.add_edge(tool, "selector")
builder.add_edge("greeter", END)
builder.add_edge("answering_machine", END)

graph = builder.compile(name="planrag_no_replan").with_config(recursion_limit=RECURSION_LIMIT)
