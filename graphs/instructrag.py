"""InstructRAG: acts by a path that is composed from past successes (Wang et al. 2025).

Pathfinder (RL-Agent) → path selector (ML-Agent) → thought and action → environment → … The path
and the questions it comes from are in working memory; the actor may depart from it.
"""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import act_and_observe, begin_task
from planweave.graphs.support.registry import method
from planweave.memory import Guided, Solving, Work
from planweave.nodes.acting.actor import actor
from planweave.nodes.acting.path_selector import guide_by_path, path_selector
from planweave.nodes.acting.pathfinder import pathfinder


class InstructRAG(Work, Solving, Guided, total=False):
    """The task and the paths that may solve it."""


@method("instructrag", family="act", state=InstructRAG)
def instructrag(graph: Builder) -> None:
    begin_task(graph, "pathfinder")
    graph.add_node("pathfinder", pathfinder)
    graph.add_node("path_selector", path_selector)
    graph.add_node("actor", actor(guide_by_path))

    graph.add_edge("pathfinder", "path_selector")
    graph.add_edge("path_selector", "actor")
    act_and_observe(graph, "actor", then="actor")


graph = instructrag.graph
