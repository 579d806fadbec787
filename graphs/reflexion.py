"""Reflexion: tries a task again with what it learned from its failures (Shinn et al. 2023).

Actor ⇄ environment until the trial is over, then the reflector, then the next trial.
"""

from planweave.graphs.edges import RECURSION_LIMIT, tried, trying
from planweave.graphs.parts import task_builder
from planweave.nodes.actor import actor
from planweave.nodes.reflector import lessons, reflector

builder = task_builder("actor")
builder.add_node("actor", actor(lessons))
builder.add_node("reflector", reflector)

builder.add_conditional_edges(
    "actor",
    trying,
    {
        "acting": "environment",
        "unreadable": "actor",
        "over": "reporter",
        "to_reflect": "reflector",
    },
)
builder.add_conditional_edges(
    "environment", tried, {"going_on": "actor", "over": "reporter", "to_reflect": "reflector"}
)
builder.add_edge("reflector", "actor")

graph = builder.compile(name="reflexion").with_config(recursion_limit=RECURSION_LIMIT)
