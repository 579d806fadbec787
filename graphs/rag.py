"""RAG: the question is the query, the best pages go before the answer (RAG-1, RAG-5)."""

from planweave.graphs.edges import RECURSION_LIMIT, beginning
from planweave.graphs.parts import method_builder
from planweave.nodes.evidence import evidence
from planweave.nodes.finisher import finisher
from planweave.nodes.retriever import question_documents

builder = method_builder()
builder.add_node("documents", question_documents)
builder.add_node("evidence", evidence)
builder.add_node("finisher", finisher)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "documents", "predefined_plan": "documents"},
)
builder.add_edge("documents", "evidence")
builder.add_edge("evidence", "finisher")
builder.add_edge("finisher", "citation_check")

graph = builder.compile(name="rag").with_config(recursion_limit=RECURSION_LIMIT)
