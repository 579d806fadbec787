"""RAP: acts with the whole trajectories of the nearest tasks as examples (Kagaya et al. 2024)."""

from planweave.graphs.edges import RECURSION_LIMIT
from planweave.graphs.parts import act_and_observe, task_builder
from planweave.nodes.actor import actor
from planweave.nodes.trajectories import examples, trajectories

builder = task_builder("trajectories")
builder.add_node("trajectories", trajectories)
builder.add_node("actor", actor(examples))

builder.add_edge("trajectories", "actor")
act_and_observe(builder, "actor", then="actor")

graph = builder.compile(name="rap").with_config(recursion_limit=RECURSION_LIMIT)
