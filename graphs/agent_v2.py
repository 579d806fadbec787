"""Strategy agent V2: one prompt chooses each action, every result becomes a fact."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin
from planweave.graphs.support.registry import method
from planweave.graphs.support.shapes import act_until_finish
from planweave.memory import BOUND_TOOL, Tool, Tooled
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", BOUND_TOOL)


@method("agent_v2", family="documents", state=Tooled)
def agent_v2(graph: Builder) -> None:
    begin(graph, "selector", tools=TOOLS)
    role = selector("agent_v2/selector", (*TOOLS, "finish"))
    act_until_finish(graph, "selector", role, TOOLS)


graph = agent_v2.graph
