"""Single-turn RAG: one query written from question, rules and schema, run once, then the answer."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import chosen
from planweave.graphs.support.parts import begin, bind_tools, bound
from planweave.graphs.support.registry import method
from planweave.memory import BOUND_TOOL, Tool
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", BOUND_TOOL)


@method("single_rag", family="decide", baseline=True)
def single_rag(graph: Builder) -> None:
    graph.add_node("selector", selector("single_rag/selector", TOOLS))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    begin(graph, "selector", when_read="answering_machine")
    graph.add_conditional_edges(
        "selector",
        chosen,
        bound(TOOLS) | {"finish": "answering_machine", "unreadable": "answering_machine"},
    )
    for end in tool_ends:
        graph.add_edge(end, "answering_machine")
    graph.add_edge("answering_machine", "citation_check")


graph = single_rag.graph
