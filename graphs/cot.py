"""CoT: thinks step by step, then answers; nothing is looked up (Kojima et al. 2022)."""

from planweave.graphs.builder import Builder
from planweave.graphs.parts import begin
from planweave.graphs.registry import method
from planweave.nodes.drafter import drafter
from planweave.nodes.finisher import finisher


@method("cot", family="write")
def cot(graph: Builder) -> None:
    graph.add_node("drafter", drafter)
    graph.add_node("finisher", finisher)

    begin(graph, "drafter")
    graph.add_edge("drafter", "finisher")
    graph.add_edge("finisher", "citation_check")


graph = cot.graph
