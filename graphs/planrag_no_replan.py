"""PlanRAG without re-planning: plans first, then retrieves by that plan to the end (table 4)."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import route_approval
from planweave.graphs.support.parts import begin
from planweave.graphs.support.registry import method
from planweave.graphs.support.shapes import act_until_finish
from planweave.memory import BOUND_TOOL, Tool, Tooled
from planweave.nodes.deciding.plan_approval import plan_approval
from planweave.nodes.deciding.planner import planner
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", "thinking", BOUND_TOOL)


@method("planrag_no_replan", family="decide", baseline=True, state=Tooled)
def planrag_no_replan(graph: Builder) -> None:
    begin(graph, "planner", tools=TOOLS, with_plan="plan_approval")
    graph.add_node("planner", planner("planrag/planner"))
    graph.add_node("plan_approval", plan_approval)

    graph.add_edge("planner", "plan_approval")
    graph.add_conditional_edges(
        "plan_approval", route_approval, {"approved": "selector", "rejected": "planner"}
    )
    role = selector("planrag/selector", (*TOOLS, "finish"))
    act_until_finish(graph, "selector", role, TOOLS)


graph = planrag_no_replan.graph
