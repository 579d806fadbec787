"""ReAct: thought, action and observation in turn, until it finishes (Yao et al. 2023).

It answers a question with the tools, and solves a task of an environment by acting there.
"""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import act_and_observe, begin_task
from planweave.graphs.support.registry import method
from planweave.graphs.support.shapes import act_until_finish
from planweave.memory import BOUND_TOOL, Solving, Tool, Tooled
from planweave.nodes.acting.actor import actor, give_no_guidance
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", BOUND_TOOL)


class ReAct(Tooled, Solving, total=False):
    """What the tools have found, or the task of an environment."""


@method("react", family="documents", baseline=True, state=ReAct)
def react(graph: Builder) -> None:
    begin_task(graph, "actor", tools=TOOLS, asked="selector")
    role = selector("react/selector", (*TOOLS, "finish"))
    act_until_finish(graph, "selector", role, TOOLS)

    graph.add_node("actor", actor(give_no_guidance))
    act_and_observe(graph, "actor", then="actor")


graph = react.graph
