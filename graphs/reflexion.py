"""Reflexion: repeats a task with the lessons of its failures (Shinn et al. 2023).

Actor ⇄ environment until the trial is over, then the reflector, then the next trial.
"""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import route_trial_action, route_trial_episode
from planweave.graphs.support.parts import begin_task
from planweave.graphs.support.registry import method
from planweave.memory import Reflected, Solving, Work
from planweave.nodes.acting.actor import actor
from planweave.nodes.acting.reflector import guide_by_lessons, reflector


class Reflexion(Work, Solving, Reflected, total=False):
    """The task and the lessons of failed trials."""


@method("reflexion", family="act", baseline=True, state=Reflexion)
def reflexion(graph: Builder) -> None:
    begin_task(graph, "actor")
    graph.add_node("actor", actor(guide_by_lessons))
    graph.add_node("reflector", reflector)

    graph.add_conditional_edges(
        "actor",
        route_trial_action,
        {
            "acting": "environment",
            "unreadable": "actor",
            "over": "closing",
            "to_reflect": "reflector",
        },
    )
    graph.add_conditional_edges(
        "environment",
        route_trial_episode,
        {"going_on": "actor", "over": "closing", "to_reflect": "reflector"},
    )
    graph.add_edge("reflector", "actor")


graph = reflexion.graph
