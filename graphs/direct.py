"""Direct: asks for the answer, program, plan or text at once, without thoughts or retrieval."""

from planweave.graphs.builder import Builder
from planweave.graphs.parts import begin
from planweave.graphs.registry import method
from planweave.nodes.finisher import finisher


@method("direct", family="write")
def direct(graph: Builder) -> None:
    graph.add_node("finisher", finisher)

    begin(graph, "finisher")
    graph.add_edge("finisher", "citation_check")


graph = direct.graph
