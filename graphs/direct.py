"""Direct: asks for the answer, program, plan or text at once, without thoughts or retrieval."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin
from planweave.graphs.support.registry import method
from planweave.memory import Writing
from planweave.nodes.drafting.finisher import finisher


@method("direct", family="write", baseline=True, state=Writing, uses_plan=False)
def direct(graph: Builder) -> None:
    begin(graph, "finisher")
    graph.add_node("finisher", finisher)

    graph.add_edge("finisher", "closing")


graph = direct.graph
