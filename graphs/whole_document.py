"""Whole document: answers from the whole collection in one prompt and one call."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin, build_reading
from planweave.graphs.support.registry import method
from planweave.memory import Writing
from planweave.nodes.documents.evidence import evidence
from planweave.nodes.documents.whole_collection import whole_collection
from planweave.nodes.drafting.finisher import finisher


@method("whole_document", family="documents", state=Writing, uses_plan=False)
def whole_document(graph: Builder) -> None:
    begin(graph, "documents")
    reading = build_reading(whole_collection, evidence, first="whole_collection")
    graph.add_node("documents", reading)
    graph.add_node("finisher", finisher)

    graph.add_edge("documents", "finisher")
    graph.add_edge("finisher", "closing")


graph = whole_document.graph
