"""Whole document: the whole collection goes before the answer, in one prompt and one call."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin
from planweave.graphs.support.registry import method
from planweave.nodes.documents.evidence import evidence
from planweave.nodes.documents.whole_collection import whole_collection
from planweave.nodes.drafting.finisher import finisher


@method("whole_document", family="documents")
def whole_document(graph: Builder) -> None:
    graph.add_node("whole_collection", whole_collection)
    graph.add_node("evidence", evidence)
    graph.add_node("finisher", finisher)

    begin(graph, "whole_collection")
    graph.add_edge("whole_collection", "evidence")
    graph.add_edge("evidence", "finisher")
    graph.add_edge("finisher", "citation_check")


graph = whole_document.graph
