"""Strategy agent V1: rewrites the question, retrieves once, writes the answer."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import chosen
from planweave.graphs.support.parts import begin, bind_tools, bound
from planweave.graphs.support.registry import method
from planweave.memory import BOUND_TOOL, Tool
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", BOUND_TOOL)


@method("agent_v1", family="documents")
def agent_v1(graph: Builder) -> None:
    graph.add_node("rewriter", selector("agent_v1/rewriter", TOOLS))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    begin(graph, "rewriter", when_read="answering_machine")
    graph.add_conditional_edges(
        "rewriter",
        chosen,
        bound(TOOLS) | {"finish": "answering_machine", "unreadable": "answering_machine"},
    )
    for end in tool_ends:
        graph.add_edge(end, "answering_machine")
    graph.add_edge("answering_machine", "citation_check")


graph = agent_v1.graph
