"""ReAct: thought, action and observation in turn, until it finishes (Yao et al. 2023).

A question is answered with the tools, a task of an environment by acting there.
"""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import chosen, opening
from planweave.graphs.support.parts import (
    act_and_observe,
    bind_environment,
    bind_tools,
    bound,
)
from planweave.graphs.support.registry import method
from planweave.memory import BOUND_TOOL, Tool
from planweave.nodes.acting.actor import actor, unguided
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", BOUND_TOOL)


@method("react", family="documents", baseline=True)
def react(graph: Builder) -> None:
    graph.add_node("selector", selector("react/selector", (*TOOLS, "finish")))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    graph.add_conditional_edges(
        "recall",
        opening,
        {
            "task": "actor",
            "greeting": "greeter",
            "no_plan": "selector",
            "predefined_plan": "selector",
        },
    )
    graph.add_conditional_edges(
        "selector", chosen, bound(TOOLS) | {"finish": "answering_machine", "unreadable": "selector"}
    )
    for end in tool_ends:
        graph.add_edge(end, "selector")
    graph.add_edge("answering_machine", "citation_check")

    graph.add_node("actor", actor(unguided))
    bind_environment(graph)
    act_and_observe(graph, "actor", then="actor")


graph = react.graph
