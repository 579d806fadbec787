"""Strategy agent V3: plans, sets one task at a time, and answers when the facts are enough.

Figure 3.1 of the thesis: planner → evaluator → answering machine → taskmaster → selector →
executor (the tools) → planner … A given plan bypasses planner and evaluator.
"""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import (
    route_answer,
    route_approval,
    route_choice,
    route_evaluation,
    route_review,
    route_revision,
)
from planweave.graphs.support.parts import begin, tools
from planweave.graphs.support.registry import method
from planweave.memory import BOUND_TOOL, Evaluated, Tasked, Tool, Tooled
from planweave.nodes.deciding.answering_machine import answer_or_continue
from planweave.nodes.deciding.evaluator import evaluator
from planweave.nodes.deciding.plan_approval import plan_approval
from planweave.nodes.deciding.planner import planner
from planweave.nodes.deciding.selector import selector
from planweave.nodes.deciding.taskmaster import taskmaster

TOOLS: tuple[Tool, ...] = ("sql", "cypher", "documents", "calculator", BOUND_TOOL)


class AgentV3(Tooled, Evaluated, Tasked, total=False):
    """The plan, the evaluator's objection, and the task of the round."""


@method("agent_v3", family="documents", state=AgentV3)
def agent_v3(graph: Builder) -> None:
    begin(graph, "planner", tools=TOOLS, with_plan="plan_approval")
    graph.add_node("planner", planner("agent_v3/planner"))
    graph.add_node("evaluator", evaluator)
    graph.add_node("plan_approval", plan_approval)
    graph.add_node("answering_machine", answer_or_continue)
    graph.add_node("taskmaster", taskmaster)
    graph.add_node("selector", selector("agent_v3/selector", TOOLS))
    graph.add_node("tools", tools(TOOLS))

    graph.add_conditional_edges(
        "planner", route_review, {"to_evaluate": "evaluator", "accepted": "plan_approval"}
    )
    graph.add_conditional_edges(
        "evaluator", route_evaluation, {"rejected": "planner", "accepted": "plan_approval"}
    )
    graph.add_conditional_edges(
        "plan_approval", route_approval, {"approved": "answering_machine", "rejected": "planner"}
    )
    graph.add_conditional_edges(
        "answering_machine", route_answer, {"answered": "closing", "going_on": "taskmaster"}
    )
    graph.add_edge("taskmaster", "selector")
    graph.add_conditional_edges(
        "selector",
        route_choice,
        {"acting": "tools", "finish": "answering_machine", "unreadable": "selector"},
    )
    graph.add_conditional_edges(
        "tools", route_revision, {"doubtful": "planner", "sound": "answering_machine"}
    )


graph = agent_v3.graph
