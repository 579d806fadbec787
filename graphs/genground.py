"""GenGround: deduces an answer to a sub-question, then grounds it (Shi et al. 2024).

Deducer → environment → grounder → deducer … until an action submits the result.
"""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import act_and_observe, begin_task
from planweave.graphs.support.registry import method
from planweave.memory import Deduced, Solving, Tasked, Work
from planweave.nodes.acting.deducer import deducer
from planweave.nodes.acting.grounder import grounder


class GenGround(Work, Solving, Tasked, Deduced, total=False):
    """The task and the answered sub-questions."""


@method("genground", family="act", baseline=True, state=GenGround)
def genground(graph: Builder) -> None:
    begin_task(graph, "deducer")
    graph.add_node("deducer", deducer)
    graph.add_node("grounder", grounder)

    act_and_observe(graph, "deducer", then="grounder")
    graph.add_edge("grounder", "deducer")


graph = genground.graph
