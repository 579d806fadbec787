"""Strategy agent V1: rewrites the question, retrieves once, writes the answer."""

from planweave.graphs.builder import Builder
from planweave.graphs.edges import chosen
from planweave.graphs.parts import begin, bind_tools, bound
from planweave.graphs.registry import method
from planweave.memory import Tool
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents")


@method("agent_v1", family="documents")
def agent_v1(graph: Builder) -> None:
    graph.add_node("rewriter", selector("agent_v1/rewriter", TOOLS))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    begin(graph, "rewriter")
    graph.add_conditional_edges(
        "rewriter",
        chosen,
        bound(TOOLS) | {"finish": "answering_machine", "unreadable": "answering_machine"},
    )
    for end in tool_ends:
        graph.add_edge(end, "answering_machine")
    graph.add_edge("answering_machine", "citation_check")


graph = agent_v1.graph
