"""GenGround: deduces an answer to a sub-question, then grounds it (Shi et al. 2024).

Deducer → environment → grounder → deducer … until an action hands in the result.
"""

from graphs.edges import RECURSION_LIMIT
from graphs.parts import act_and_observe, task_builder
from nodes.deducer import deducer
from nodes.grounder import grounder

builder = task_builder("deducer")
builder.add_node("deducer", deducer)
builder.add_node("grounder", grounder)

act_and_observe(builder, "deducer", then="grounder")
builder.add_edge("grounder", "deducer")

graph = builder.compile(name="genground").with_config(recursion_limit=RECURSION_LIMIT)
