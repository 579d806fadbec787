"""RAP: acts with the whole trajectories of the nearest tasks as examples (Kagaya et al. 2024)."""

from planweave.graphs.builder import Builder
from planweave.graphs.parts import act_and_observe, begin_task
from planweave.graphs.registry import method
from planweave.nodes.actor import actor
from planweave.nodes.trajectories import examples, trajectories


@method("rap", family="act")
def rap(graph: Builder) -> None:
    begin_task(graph, "trajectories")
    graph.add_node("trajectories", trajectories)
    graph.add_node("actor", actor(examples))

    graph.add_edge("trajectories", "actor")
    act_and_observe(graph, "actor", then="actor")


graph = rap.graph
