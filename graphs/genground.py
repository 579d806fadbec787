"""GenGround: deduces an answer to a sub-question, then grounds it (Shi et al. 2024).

Deducer → environment → grounder → deducer … until an action hands in the result.
"""

from planweave.graphs.builder import Builder
from planweave.graphs.parts import act_and_observe, begin_task
from planweave.graphs.registry import method
from planweave.nodes.deducer import deducer
from planweave.nodes.grounder import grounder


@method("genground", family="act")
def genground(graph: Builder) -> None:
    begin_task(graph, "deducer")
    graph.add_node("deducer", deducer)
    graph.add_node("grounder", grounder)

    act_and_observe(graph, "deducer", then="grounder")
    graph.add_edge("grounder", "deducer")


graph = genground.graph
