"""FuRePA: reasons from scratch each round, and lets a trained assessor pick the next query.

Furthest reasoner (sees question and evidence only) → candidate queries → clusterer → plan
assessor → retrieval → evidence → furthest reasoner … until it answers (Zhu et al. 2023). With
``corrective`` a grader drops pages that do not bear on the query before they are evidence.
"""

from planweave.graphs.edges import RECURSION_LIMIT, beginning, found_new, proposing
from planweave.graphs.parts import method_builder
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.assessor import assessor
from planweave.nodes.clusterer import clusterer
from planweave.nodes.documents import unseen_documents
from planweave.nodes.evidence import evidence
from planweave.nodes.grader import grader
from planweave.nodes.reasoner import reasoner

builder = method_builder()
builder.add_node("reasoner", reasoner("furepa/reasoner"))
builder.add_node("clusterer", clusterer)
builder.add_node("assessor", assessor)
builder.add_node("documents", unseen_documents)
builder.add_node("grader", grader)
builder.add_node("evidence", evidence)
builder.add_node("answering_machine", answering_machine)

builder.add_conditional_edges(
    "recall",
    beginning,
    {"greeting": "greeter", "no_plan": "reasoner", "predefined_plan": "reasoner"},
)
builder.add_conditional_edges(
    "reasoner",
    proposing,
    {"answered": "citation_check", "at_a_limit": "answering_machine", "proposing": "clusterer"},
)
builder.add_conditional_edges("clusterer", found_new, {"new": "assessor", "repeated": "reasoner"})
builder.add_edge("assessor", "documents")
builder.add_edge("documents", "grader")
builder.add_edge("grader", "evidence")
builder.add_edge("evidence", "reasoner")
builder.add_edge("answering_machine", "citation_check")

graph = builder.compile(name="furepa").with_config(recursion_limit=RECURSION_LIMIT)
