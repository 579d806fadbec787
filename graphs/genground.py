"""GenGround: deduces an answer to a sub-question, then grounds it (Shi et al. 2024).

Deducer → environment → grounder → deducer … until an action hands in the result.
"""

from planweave.graphs.edges import RECURSION_LIMIT
from planweave.graphs.parts import act_and_observe, task_builder
from planweave.nodes.deducer import deducer
from planweave.nodes.grounder import grounder

builder = task_builder("deducer")
builder.add_node("deducer", deducer)
builder.add_node("grounder", grounder)

act_and_observe(builder, "deducer", then="grounder")
builder.add_edge("grounder", "deducer")

graph = builder.compile(name="genground").with_config(recursion_limit=RECURSION_LIMIT)
