"""IRCoT: one sentence of thought, one retrieval by it, in turn (Trivedi et al. 2023)."""

from planweave.graphs.edges import RECURSION_LIMIT, beginning, thinking_on
from planweave.graphs.parts import method_builder
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.documents import unseen_documents
from planweave.nodes.evidence import evidence
from planweave.nodes.thinker import thinker

builder = method_builder()
builder.add_node("thinker", thinker("ircot/thinker"))
builder.add_node("documents", unseen_documents)
builder.add_node("evidence", evidence)
builder.add_node("answering_machine", answering_machine)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "thinker", "predefined_plan": "thinker"},
)
builder.add_conditional_edges(
    "thinker",
    thinking_on,
    {"answered": "citation_check", "chain_ends": "answering_machine", "searching": "documents"},
)
builder.add_edge("documents", "evidence")
builder.add_edge("evidence", "thinker")
builder.add_edge("answering_machine", "citation_check")

graph = builder.compile(name="ircot").with_config(recursion_limit=RECURSION_LIMIT)
