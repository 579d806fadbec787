"""Strategy agent V2: one prompt chooses each action, every result becomes a fact."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import chosen
from planweave.graphs.support.parts import begin, bind_tools, bound
from planweave.graphs.support.registry import method
from planweave.memory import BOUND_TOOL, Tool
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", BOUND_TOOL)


@method("agent_v2", family="documents")
def agent_v2(graph: Builder) -> None:
    graph.add_node("selector", selector("agent_v2/selector", (*TOOLS, "finish")))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    begin(graph, "selector")
    graph.add_conditional_edges(
        "selector", chosen, bound(TOOLS) | {"finish": "answering_machine", "unreadable": "selector"}
    )
    for end in tool_ends:
        graph.add_edge(end, "selector")
    graph.add_edge("answering_machine", "citation_check")


graph = agent_v2.graph
