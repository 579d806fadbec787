"""IRCoT: a sentence of thought and a retrieval with it, in turn (Trivedi et al. 2023)."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import route_thought
from planweave.graphs.support.parts import begin, build_reading
from planweave.graphs.support.registry import method
from planweave.memory import Hopping
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.documents.documents import unseen_documents
from planweave.nodes.documents.evidence import evidence
from planweave.nodes.hops.thinker import thinker


@method("ircot", family="hops", baseline=True, state=Hopping, uses_plan=False)
def ircot(graph: Builder) -> None:
    begin(graph, "thinker")
    graph.add_node("thinker", thinker)
    graph.add_node("documents", build_reading(unseen_documents, evidence))
    graph.add_node("answering_machine", answering_machine)

    graph.add_conditional_edges(
        "thinker",
        route_thought,
        {"answered": "closing", "chain_ends": "answering_machine", "searching": "documents"},
    )
    graph.add_edge("documents", "thinker")
    graph.add_edge("answering_machine", "closing")


graph = ircot.graph
