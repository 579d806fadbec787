"""Iterative RAG: thought, action, observation, repeated until the facts are enough (figure 3 a)."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin
from planweave.graphs.support.registry import method
from planweave.graphs.support.shapes import act_until_finish
from planweave.memory import BOUND_TOOL, Tool, Tooled
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", "thinking", BOUND_TOOL)


@method("iter_rag", family="decide", baseline=True, state=Tooled)
def iter_rag(graph: Builder) -> None:
    begin(graph, "selector", tools=TOOLS)
    role = selector("iter_rag/selector", (*TOOLS, "finish"))
    act_until_finish(graph, "selector", role, TOOLS)


graph = iter_rag.graph
