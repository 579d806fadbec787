"""InstructRAG: acts by a path that is put together from past successes (Wang et al. 2025).

Pathfinder (RL-Agent) → path selector (ML-Agent) → thought and action → environment → … The path
and the questions it comes from stand in working memory; the actor may depart from it.
"""

from planweave.graphs.edges import RECURSION_LIMIT
from planweave.graphs.parts import act_and_observe, task_builder
from planweave.nodes.actor import actor
from planweave.nodes.path_selector import chosen_path, path_selector
from planweave.nodes.pathfinder import pathfinder

builder = task_builder("pathfinder")
builder.add_node("pathfinder", pathfinder)
builder.add_node("path_selector", path_selector)
builder.add_node("actor", actor(chosen_path))

builder.add_edge("pathfinder", "path_selector")
builder.add_edge("path_selector", "actor")
act_and_observe(builder, "actor", then="actor")

graph = builder.compile(name="instructrag").with_config(recursion_limit=RECURSION_LIMIT)
