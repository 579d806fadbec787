"""PlanRAG without re-planning: plans first and retrieves by that plan to the end (table 4)."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import approval, chosen
from planweave.graphs.support.parts import begin, bind_tools, bound
from planweave.graphs.support.registry import method
from planweave.memory import BOUND_TOOL, Tool
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.deciding.plan_approval import plan_approval
from planweave.nodes.deciding.planner import planner
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", "thinking", BOUND_TOOL)


@method("planrag_no_replan", family="decide", baseline=True)
def planrag_no_replan(graph: Builder) -> None:
    graph.add_node(
        "planner",
        planner(
            "planrag/planner",
            with_documents="planrag/planner_with_documents",
            following="planrag/planner_following",
            when_read="planrag/planner_when_read",
        ),
    )
    graph.add_node("plan_approval", plan_approval)
    graph.add_node("selector", selector("planrag/selector", (*TOOLS, "finish")))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    begin(graph, "planner", with_plan="plan_approval")
    graph.add_edge("planner", "plan_approval")
    graph.add_conditional_edges(
        "plan_approval", approval, {"approved": "selector", "rejected": "planner"}
    )
    graph.add_conditional_edges(
        "selector", chosen, bound(TOOLS) | {"finish": "answering_machine", "unreadable": "selector"}
    )
    for end in tool_ends:
        graph.add_edge(end, "selector")
    graph.add_edge("answering_machine", "citation_check")


graph = planrag_no_replan.graph
