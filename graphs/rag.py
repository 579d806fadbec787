"""RAG: searches for the question itself, then answers from the best pages (RAG-1, RAG-5)."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin, build_reading
from planweave.graphs.support.registry import method
from planweave.memory import Writing
from planweave.nodes.documents.evidence import evidence
from planweave.nodes.drafting.finisher import finisher
from planweave.nodes.drafting.retriever import question_documents


@method("rag", family="write", baseline=True, state=Writing, uses_plan=False)
def rag(graph: Builder) -> None:
    begin(graph, "documents")
    graph.add_node("documents", build_reading(question_documents, evidence))
    graph.add_node("finisher", finisher)

    graph.add_edge("documents", "finisher")
    graph.add_edge("finisher", "closing")


graph = rag.graph
