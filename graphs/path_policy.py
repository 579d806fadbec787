"""Path policy: decides by a learned path alone, without any language model.

Experience → path follower → query → path answer: PlanRAG with experience but without a model. It
measures the value of the experience alone.
"""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import route_choice, route_learned_path
from planweave.graphs.support.parts import begin, tools
from planweave.graphs.support.registry import method
from planweave.memory import Guided, Tooled
from planweave.nodes.deciding.experience import experience
from planweave.nodes.deciding.path_answer import path_answer
from planweave.nodes.deciding.path_follower import path_follower


class PathPolicy(Tooled, Guided, total=False):
    """The learned path, the query's result, the answer."""


@method("path_policy", family="learned", state=PathPolicy, uses_plan=False)
def path_policy(graph: Builder) -> None:
    begin(graph, "experience")
    graph.add_node("experience", experience(always=True))
    graph.add_node("path_follower", path_follower)
    graph.add_node("tools", tools(("sql", "cypher"), by_model=False))
    graph.add_node("path_answer", path_answer)

    for node in ("experience", "tools"):
        graph.add_conditional_edges(
            node, route_learned_path, {"followed": "path_follower", "ended": "path_answer"}
        )
    graph.add_conditional_edges(
        "path_follower", route_choice, {"acting": "tools", "finish": "path_answer"}
    )
    graph.add_edge("path_answer", "closing")


graph = path_policy.graph
