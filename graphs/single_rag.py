"""Single-turn RAG: writes one query from question, rules and schema, runs it, then answers."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.registry import method
from planweave.graphs.support.shapes import one_action
from planweave.memory import BOUND_TOOL, Tool, Tooled
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", BOUND_TOOL)


@method("single_rag", family="decide", baseline=True, state=Tooled)
def single_rag(graph: Builder) -> None:
    one_action(graph, "selector", selector("single_rag/selector", TOOLS), TOOLS)


graph = single_rag.graph
