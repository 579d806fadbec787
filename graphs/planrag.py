"""PlanRAG: plans first, retrieves by the plan, and re-plans when the plan falls short.

The loop of figure 3 (b): planner → selector → tools → re-planner → selector … → answering machine.
The plan is in working memory, and re-planning is an edge of the graph. Independent actions run in
parallel; the observer waits for all of them. With experience switched on, a learned path that fits
the question becomes the plan, and the selector follows it.
"""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import route_approved_plan, route_choice, route_progress
from planweave.graphs.support.parts import begin, tools
from planweave.graphs.support.registry import method
from planweave.memory import BOUND_TOOL, Guided, Tool, Tooled
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.deciding.experience import experience
from planweave.nodes.deciding.observer import observer
from planweave.nodes.deciding.one_prompt import one_prompt
from planweave.nodes.deciding.path_follower import follow_or_select
from planweave.nodes.deciding.plan_approval import plan_approval
from planweave.nodes.deciding.planner import planner
from planweave.nodes.deciding.replanner import replanner
from planweave.nodes.deciding.selector import selector

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", "thinking", BOUND_TOOL)
CHOICES: tuple[Tool, ...] = (*TOOLS, "replan", "finish")


class PlanRAG(Tooled, Guided, total=False):
    """The state of PlanRAG, with the learned path that it may follow."""


@method("planrag", family="decide", state=PlanRAG)
def planrag(graph: Builder) -> None:
    begin(graph, "planner", tools=TOOLS, with_plan="plan_approval", recalls=experience())
    planning = planner("planrag/planner", combined="planrag/plan_task", tools=CHOICES)
    graph.add_node("planner", planning)
    graph.add_node("plan_approval", plan_approval)
    choosing = selector("planrag/selector", CHOICES, combined="planrag/act_task")
    choosing = one_prompt(CHOICES, fallback=choosing)
    graph.add_node("selector", follow_or_select(choosing))
    graph.add_node("tools", tools(TOOLS, then=observer))
    graph.add_node("replanner", replanner(CHOICES))
    graph.add_node("answering_machine", answering_machine)

    graph.add_edge("planner", "plan_approval")
    graph.add_conditional_edges(
        "plan_approval",
        route_approved_plan,
        {"approved": "selector", "acting": "tools", "rejected": "planner"},
    )
    graph.add_conditional_edges(
        "selector",
        route_choice,
        {
            "acting": "tools",
            "replan": "replanner",
            "finish": "answering_machine",
            "unreadable": "selector",
        },
    )
    graph.add_conditional_edges(
        "tools", route_progress, {"doubtful": "replanner", "sound": "selector"}
    )
    graph.add_edge("replanner", "selector")
    graph.add_edge("answering_machine", "closing")


graph = planrag.graph
