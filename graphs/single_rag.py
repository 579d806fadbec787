"""Single-turn RAG: one query written from question, rules and schema, run once, then the answer."""

from planweave.graphs.builder import Builder
from planweave.graphs.edges import chosen
from planweave.graphs.parts import begin, bind_tools, bound
from planweave.graphs.registry import method
from planweave.memory import Tool
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents")


@method("single_rag", family="decide")
def single_rag(graph: Builder) -> None:
    graph.add_node("selector", selector("single_rag/selector", TOOLS))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    begin(graph, "selector")
    graph.add_conditional_edges(
        "selector",
        chosen,
        bound(TOOLS) | {"finish": "answering_machine", "unreadable": "answering_machine"},
    )
    for end in tool_ends:
        graph.add_edge(end, "answering_machine")
    graph.add_edge("answering_machine", "citation_check")


graph = single_rag.graph
