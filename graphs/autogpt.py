"""AutoGPT: thoughts, a plan and criticism before every command, until it finishes."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import chosen
from planweave.graphs.support.parts import begin, bind_tools, bound
from planweave.graphs.support.registry import method
from planweave.memory import BOUND_TOOL, Tool
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.deciding.autogpt import commander

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", BOUND_TOOL)


@method("autogpt", family="documents", baseline=True)
def autogpt(graph: Builder) -> None:
    graph.add_node("autogpt", commander("autogpt/autogpt", (*TOOLS, "finish")))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    begin(graph, "autogpt")
    graph.add_conditional_edges(
        "autogpt", chosen, bound(TOOLS) | {"finish": "answering_machine", "unreadable": "autogpt"}
    )
    for end in tool_ends:
        graph.add_edge(end, "autogpt")
    graph.add_edge("answering_machine", "citation_check")


graph = autogpt.graph
