"""Reflexion: tries a task again with what it learned from its failures (Shinn et al. 2023).

Actor ⇄ environment until the trial is over, then the reflector, then the next trial.
"""

from planweave.graphs.builder import Builder
from planweave.graphs.edges import tried, trying
from planweave.graphs.parts import begin_task
from planweave.graphs.registry import method
from planweave.nodes.actor import actor
from planweave.nodes.reflector import lessons, reflector


@method("reflexion", family="act")
def reflexion(graph: Builder) -> None:
    begin_task(graph, "actor")
    graph.add_node("actor", actor(lessons))
    graph.add_node("reflector", reflector)

    graph.add_conditional_edges(
        "actor",
        trying,
        {
            "acting": "environment",
            "unreadable": "actor",
            "over": "reporter",
            "to_reflect": "reflector",
        },
    )
    graph.add_conditional_edges(
        "environment", tried, {"going_on": "actor", "over": "reporter", "to_reflect": "reflector"}
    )
    graph.add_edge("reflector", "actor")


graph = reflexion.graph
