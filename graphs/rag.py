"""RAG: the question is the query, the best pages go before the answer (RAG-1, RAG-5)."""

from planweave.graphs.builder import Builder
from planweave.graphs.parts import begin
from planweave.graphs.registry import method
from planweave.nodes.evidence import evidence
from planweave.nodes.finisher import finisher
from planweave.nodes.retriever import question_documents


@method("rag", family="write")
def rag(graph: Builder) -> None:
    graph.add_node("documents", question_documents)
    graph.add_node("evidence", evidence)
    graph.add_node("finisher", finisher)

    begin(graph, "documents")
    graph.add_edge("documents", "evidence")
    graph.add_edge("evidence", "finisher")
    graph.add_edge("finisher", "citation_check")


graph = rag.graph
