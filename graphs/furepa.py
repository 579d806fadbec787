"""FuRePA: reasons from scratch each round, and lets a trained assessor pick the next query.

Furthest reasoner (sees question and evidence only) → candidate queries → clusterer → plan
assessor → retrieval → evidence → furthest reasoner … until it answers (Zhu et al. 2023).
"""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import route_new_queries, route_reasoning
from planweave.graphs.support.parts import begin, build_reading
from planweave.graphs.support.registry import method
from planweave.memory import Hopping
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.documents.documents import unseen_documents
from planweave.nodes.documents.evidence import evidence
from planweave.nodes.hops.assessor import assessor
from planweave.nodes.hops.clusterer import clusterer
from planweave.nodes.hops.reasoner import reasoner


@method("furepa", family="hops", state=Hopping, uses_plan=False)
def furepa(graph: Builder) -> None:
    begin(graph, "reasoner")
    graph.add_node("reasoner", reasoner)
    graph.add_node("clusterer", clusterer)
    graph.add_node("assessor", assessor)
    graph.add_node("documents", build_reading(unseen_documents, evidence))
    graph.add_node("answering_machine", answering_machine)

    graph.add_conditional_edges(
        "reasoner",
        route_reasoning,
        {"answered": "closing", "at_a_limit": "answering_machine", "proposing": "clusterer"},
    )
    graph.add_conditional_edges(
        "clusterer", route_new_queries, {"new": "assessor", "repeated": "reasoner"}
    )
    graph.add_edge("assessor", "documents")
    graph.add_edge("documents", "reasoner")
    graph.add_edge("answering_machine", "closing")


graph = furepa.graph
