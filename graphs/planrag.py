"""PlanRAG: plans first, retrieves by the plan, and re-plans when the plan falls short.

The loop of figure 3 (b): planner → selector → tool → re-planner → selector … → answering machine.
The plan lives in working memory, and re-planning is an edge of the graph. With experience switched
on a learned path that fits the question is the plan: path follower → tool → … → answering machine.
"""

from planweave.graphs.builder import Builder
from planweave.graphs.edges import beginning, chosen, progress, start
from planweave.graphs.parts import bind_tools, bound
from planweave.graphs.registry import method
from planweave.memory import Tool
from planweave.nodes.answering_machine import answering_machine
from planweave.nodes.experience import experience
from planweave.nodes.path_follower import path_follower
from planweave.nodes.plan_approval import plan_approval
from planweave.nodes.planner import planner
from planweave.nodes.replanner import replanner
from planweave.nodes.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", "thinking")


@method("planrag", family="decide")
def planrag(graph: Builder) -> None:
    graph.add_node("experience", experience())
    graph.add_node(
        "planner",
        planner(
            "planrag/planner",
            with_documents="planrag/planner_with_documents",
            following="planrag/planner_following",
        ),
    )
    graph.add_node("plan_approval", plan_approval)
    graph.add_node("path_follower", path_follower)
    graph.add_node("selector", selector("planrag/selector", (*TOOLS, "replan", "finish")))
    graph.add_node("replanner", replanner("planrag/replanner"))
    graph.add_node("answering_machine", answering_machine)
    tool_ends = bind_tools(graph, TOOLS)

    graph.add_edge("recall", "experience")
    graph.add_conditional_edges(
        "experience",
        beginning,
        {"greeting": "greeter", "no_plan": "planner", "predefined_plan": "plan_approval"},
    )
    graph.add_edge("planner", "plan_approval")
    graph.add_conditional_edges(
        "plan_approval",
        start,
        {"followed": "path_follower", "approved": "selector", "rejected": "planner"},
    )
    graph.add_conditional_edges(
        "path_follower",
        chosen,
        {"sql": "sql", "cypher": "cypher", "finish": "answering_machine"},
    )
    graph.add_conditional_edges(
        "selector",
        chosen,
        bound(TOOLS)
        | {"replan": "replanner", "finish": "answering_machine", "unreadable": "selector"},
    )
    for end in tool_ends:
        graph.add_conditional_edges(
            end,
            progress,
            {"followed": "path_follower", "doubtful": "replanner", "sound": "selector"},
        )
    graph.add_edge("replanner", "selector")
    graph.add_edge("answering_machine", "citation_check")


graph = planrag.graph
