"""Single-turn RAG: one query written from question, rules and schema, run once, then the answer."""

from langgraph.graph import END, START, StateGraph

from graphs.edges import RECURSION_LIMIT, beginning, chosen
from memory import Context, Input, WorkingMemory
from nodes.answering_machine import answering_machine
from nodes.cypher import cypher
from nodes.greeter import greeter
from nodes.intake import intake
from nodes.selector import selector
from nodes.sql import sql

builder = StateGraph(WorkingMemory, context_schema=Context, input_schema=Input)

builder.add_node("intake", intake)
builder.add_node("greeter", greeter)
builder.add_node("selector", selector("single_rag/selector", ("sql", "cypher")))
builder.add_node("sql", sql)
builder.add_node("cypher", cypher)
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
        "finish": "answering_machine",
        "unreadable": "answering_machine",
    },
)
builder.add_edge("sql", "answering_machine")
builder.add_edge("cypher", "answering_machine")
builder.add_edge("greeter", END)
builder.add_edge("answering_machine", END)

graph = builder.compile(name="single_rag").with_config(recursion_limit=RECURSION_LIMIT)
