"""RAP: acts with the whole trajectories of the nearest tasks as examples (Kagaya et al. 2024)."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import act_and_observe, begin_task
from planweave.graphs.support.registry import method
from planweave.memory import Guided, Solving, Work
from planweave.nodes.acting.actor import actor
from planweave.nodes.acting.trajectories import guide_by_examples, trajectories


class RAP(Work, Solving, Guided, total=False):
    """The task and the trajectories of similar tasks."""


@method("rap", family="act", baseline=True, state=RAP)
def rap(graph: Builder) -> None:
    begin_task(graph, "trajectories")
    graph.add_node("trajectories", trajectories)
    graph.add_node("actor", actor(guide_by_examples))

    graph.add_edge("trajectories", "actor")
    act_and_observe(graph, "actor", then="actor")


graph = rap.graph
