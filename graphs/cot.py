"""CoT: thinks step by step, then answers without retrieval (Kojima et al. 2022)."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin
from planweave.graphs.support.registry import method
from planweave.memory import Writing
from planweave.nodes.drafting.drafter import drafter
from planweave.nodes.drafting.finisher import finisher


@method("cot", family="write", baseline=True, state=Writing)
def cot(graph: Builder) -> None:
    begin(graph, "drafter")
    graph.add_node("drafter", drafter)
    graph.add_node("finisher", finisher)

    graph.add_edge("drafter", "finisher")
    graph.add_edge("finisher", "closing")


graph = cot.graph
