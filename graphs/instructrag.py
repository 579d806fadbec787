"""InstructRAG: acts by a path that is put together from past successes (Wang et al. 2025).

Pathfinder (RL-Agent) → path selector (ML-Agent) → thought and action → environment → … The path
and the questions it comes from stand in working memory; the actor may depart from it.
"""

from planweave.graphs.builder import Builder
from planweave.graphs.parts import act_and_observe, begin_task
from planweave.graphs.registry import method
from planweave.nodes.actor import actor
from planweave.nodes.path_selector import chosen_path, path_selector
from planweave.nodes.pathfinder import pathfinder


@method("instructrag", family="act")
def instructrag(graph: Builder) -> None:
    begin_task(graph, "pathfinder")
    graph.add_node("pathfinder", pathfinder)
    graph.add_node("path_selector", path_selector)
    graph.add_node("actor", actor(chosen_path))

    graph.add_edge("pathfinder", "path_selector")
    graph.add_edge("path_selector", "actor")
    act_and_observe(graph, "actor", then="actor")


graph = instructrag.graph
