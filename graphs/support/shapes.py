"""The wiring that several methods share; they differ in the role that chooses the action."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import route_choice
from planweave.graphs.support.parts import begin, tools
from planweave.memory import Tool
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.support.role import Node


def one_action(graph: Builder, name: str, role: Node, bound: tuple[Tool, ...]) -> None:
    """Wire a method in which ``role`` chooses one action, tools run it, and then it answers."""
    begin(graph, name, tools=bound, when_read="answering_machine")
    _add_role_and_tools(graph, name, role, bound, after="answering_machine")


def act_until_finish(graph: Builder, name: str, role: Node, bound: tuple[Tool, ...]) -> None:
    """Wire a loop of ``role`` and tools until ``role`` finishes; then the method answers."""
    _add_role_and_tools(graph, name, role, bound, after=name)


def _add_role_and_tools(
    graph: Builder, name: str, role: Node, bound: tuple[Tool, ...], *, after: str
) -> None:
    """Add role, tools and answering machine; ``after`` follows the tools or an unreadable reply."""
    graph.add_node(name, role)
    graph.add_node("tools", tools(bound))
    graph.add_node("answering_machine", answering_machine)

    graph.add_conditional_edges(
        name, route_choice, {"acting": "tools", "finish": "answering_machine", "unreadable": after}
    )
    graph.add_edge("tools", after)
    graph.add_edge("answering_machine", "closing")
