"""Iterative RAG: thought, action, observation, again until the facts are enough (figure 3 a)."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import chosen
from planweave.graphs.support.parts import begin, bind_tools, bound
from planweave.graphs.support.registry import method
from planweave.memory import BOUND_TOOL, Tool
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", "thinking", BOUND_TOOL)


@method("iter_rag", family="decide", baseline=True)
def iter_rag(graph: Builder) -> None:
    graph.add_node("selector", selector("iter_rag/selector", (*TOOLS, "finish")))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    begin(graph, "selector")
    graph.add_conditional_edges(
        "selector", chosen, bound(TOOLS) | {"finish": "answering_machine", "unreadable": "selector"}
    )
    for end in tool_ends:
        graph.add_edge(end, "selector")
    graph.add_edge("answering_machine", "citation_check")


graph = iter_rag.graph
