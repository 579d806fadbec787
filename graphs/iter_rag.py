"""Iterative RAG: thought, action, observation, again until the facts are enough (figure 3 a)."""

from langgraph.graph import END, START, StateGraph

from graphs.edges import RECURSION_LIMIT, beginning, chosen
from memory import Context, Input, WorkingMemory
from nodes.answering_machine import answering_machine
from nodes.calculator import calculator
from nodes.cypher import cypher
from nodes.greeter import greeter
from nodes.intake import intake
from nodes.selector import selector
from nodes.sql import sql
from nodes.thinking import thinking

builder = StateGraph(WorkingMemory, context_schema=Context, input_schema=Input)

builder.add_node("intake", intake)
builder.add_node("greeter", greeter)
builder.add_node(
    "selector",
    selector("iter_rag/selector", ("sql", "cypher", "calculator", "thinking", "finish")),
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
    {"greeting": "greeter", "no_plan": "selector", "predefined_plan": "selector"},
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

graph = builder.compile(name="iter_rag").with_config(recursion_limit=RECURSION_LIMIT)
