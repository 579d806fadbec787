"""Strategy agent V1: rewrites the question, retrieves once, writes the answer."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.registry import method
from planweave.graphs.support.shapes import one_action
from planweave.memory import BOUND_TOOL, Tool, Tooled
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", BOUND_TOOL)


@method("agent_v1", family="documents", state=Tooled)
def agent_v1(graph: Builder) -> None:
    one_action(graph, "rewriter", selector("agent_v1/rewriter", TOOLS), TOOLS)


graph = agent_v1.graph
