"""AutoGPT: thoughts, a plan and criticism before every command, until it finishes."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.parts import begin
from planweave.graphs.support.registry import method
from planweave.graphs.support.shapes import act_until_finish
from planweave.memory import BOUND_TOOL, Tool, Tooled
from planweave.nodes.deciding.autogpt import commander

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", BOUND_TOOL)


@method("autogpt", family="documents", baseline=True, state=Tooled)
def autogpt(graph: Builder) -> None:
    begin(graph, "autogpt", tools=TOOLS)
    act_until_finish(graph, "autogpt", commander((*TOOLS, "finish")), TOOLS)


graph = autogpt.graph
