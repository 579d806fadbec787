"""Shapes that several methods share: they differ by what chooses the action."""

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import choice
from planweave.graphs.support.parts import begin, tools
from planweave.memory import Tool
from planweave.nodes.deciding.answering_machine import answering_machine
from planweave.nodes.support.role import Node


def one_action(graph: Builder, name: str, role: Node, bound: tuple[Tool, ...]) -> None:
    """``role`` chooses one action, tools carry it out, then the answering machine answers."""
    begin(graph, name, tools=bound, when_read="answering_machine")
    _acting(graph, name, role, bound, after="answering_machine")


def act_until_finish(graph: Builder, name: str, role: Node, bound: tuple[Tool, ...]) -> None:
    """``role`` and tools in turn, until ``role`` finishes; then the answering machine answers."""
    _acting(graph, name, role, bound, after=name)


def _acting(graph: Builder, name: str, role: Node, bound: tuple[Tool, ...], *, after: str) -> None:
    """``role`` chooses an action; ``after`` comes once it is carried out or cannot be read."""
    graph.add_node(name, role)
    graph.add_node("tools", tools(bound))
    graph.add_node("answering_machine", answering_machine)

    graph.add_conditional_edges(
        name, choice, {"acting": "tools", "finish": "answering_machine", "unreadable": after}
    )
    graph.add_edge("tools", after)
    graph.add_edge("answering_machine", "closing")
