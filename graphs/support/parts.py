"""What every method has: tools bound as nodes, and how a run is opened and ends."""

from collections.abc import Hashable, Sequence
from functools import wraps
from typing import Any

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import (
    acting,
    beginning,
    conversing,
    onward,
    opened,
    opening,
    over,
    reading,
    starting,
)
from planweave.memory import BOUND_TOOL, Context, Tool, WorkingMemory
from planweave.nodes.acting.environment import environment
from planweave.nodes.acting.reporter import reporter
from planweave.nodes.deciding.bound_tool import bound_tool
from planweave.nodes.deciding.calculator import calculator
from planweave.nodes.deciding.query import query_node
from planweave.nodes.deciding.thinking import thinking
from planweave.nodes.documents.documents import documents
from planweave.nodes.documents.glossary import glossary
from planweave.nodes.documents.grader import grader
from planweave.nodes.documents.reader import reader, whole_reader
from planweave.nodes.documents.whole_collection import whole_collection, whole_glossary
from planweave.nodes.shared.citation_check import citation_check
from planweave.nodes.shared.greeter import greeter
from planweave.nodes.shared.intake import intake
from planweave.nodes.shared.interpreter import interpreter
from planweave.nodes.shared.recall import recall
from planweave.nodes.shared.speaker import speaker
from planweave.nodes.support.role import Node
from planweave.nodes.support.turns import one_of_several

_NODES: dict[str, Any] = {
    "sql": query_node("database"),
    "cypher": query_node("graph"),
    "calculator": calculator,
    "thinking": thinking,
    BOUND_TOOL: bound_tool,
}


def method_builder(state: type[WorkingMemory] = WorkingMemory) -> Builder:
    """A graph with the nodes that come first, up to ``recall``, and last, from ``citation_check``.

    :func:`open_run` adds the edges of the first ones, when the method's own nodes are there.
    """
    builder = Builder(state)
    builder.add_node("intake", intake)
    builder.add_node("interpreter", interpreter)
    builder.add_node("recall", recall)
    builder.add_node("greeter", greeter)
    builder.add_node("citation_check", citation_check)
    builder.add_node("speaker", speaker)
    builder.add_edge("greeter", END)
    builder.add_edge("citation_check", "speaker")
    builder.add_edge("speaker", END)
    return builder


def open_run(builder: Builder) -> None:
    """Add the edges from the start to ``recall``.

    In a method with tools for documents a collection that fits into one prompt is read whole, once.
    """
    builder.add_edge(START, "intake")
    if "whole_reader" not in builder.nodes:
        builder.add_conditional_edges(
            "intake", conversing, {"first_question": "recall", "follow_up": "interpreter"}
        )
        builder.add_edge("interpreter", "recall")
        return
    builder.add_conditional_edges(
        "intake",
        opened,
        {"whole": "whole_collection", "first_question": "recall", "follow_up": "interpreter"},
    )
    builder.add_conditional_edges(
        "interpreter", reading, {"whole": "whole_collection", "by_search": "recall"}
    )
    builder.add_edge("whole_collection", "whole_reader")
    builder.add_edge("whole_reader", "whole_glossary")
    builder.add_edge("whole_glossary", "recall")


def bind_tools(builder: Builder, tools: Sequence[Tool], *, at_once: bool = False) -> list[str]:
    """Add a node for each tool; returns the nodes in which the tools end.

    Documents are a chain of nodes: search, grade, read, learn abbreviations; and another one for
    a collection that is read whole. Where several actions may be carried out ``at_once``, there
    may be several such chains.
    """
    for tool in tools:
        if tool in _NODES:
            builder.add_node(tool, _NODES[tool])
    ends: list[str] = [tool for tool in tools if tool in _NODES]
    if "documents" not in tools:
        return ends
    builder.add_node("documents", documents)
    builder.add_node("grader", _passing_on(grader))
    builder.add_node("reader", _passing_on(reader))
    builder.add_node("glossary", glossary)
    builder.add_node("whole_collection", whole_collection)
    builder.add_node("whole_reader", whole_reader)
    builder.add_node("whole_glossary", whole_glossary)
    for node, behind in (("documents", "grader"), ("grader", "reader"), ("reader", "glossary")):
        if at_once:
            builder.add_conditional_edges(node, onward(behind), [behind])
        else:
            builder.add_edge(node, behind)
    return [*ends, "glossary"]


def _passing_on(node: Node) -> Node:
    """The node, which of several searches at once passes on its own, for the edge behind it."""

    @wraps(node)
    async def passing_on(state: WorkingMemory, runtime: Runtime[Context]) -> WorkingMemory:
        update = await node(state, runtime)
        if not one_of_several(state):
            return update
        own: WorkingMemory = {"action": state["action"], "pages": state["pages"]}
        return own | update

    return passing_on


def bind_environment(builder: Builder) -> None:
    """Add the environment as a node, and the reporter that tells how its task has ended."""
    builder.add_node("environment", environment)
    builder.add_node("reporter", reporter)
    builder.add_edge("reporter", "speaker")


def act_and_observe(builder: Builder, role: str, *, then: str) -> None:
    """Add the edges of the loop: ``role`` acts, and ``then`` goes on until the task is over."""
    builder.add_conditional_edges(
        role, acting, {"acting": "environment", "at_a_limit": "reporter", "unreadable": role}
    )
    builder.add_conditional_edges("environment", over, {"over": "reporter", "going_on": then})


def begin(graph: Builder, first: str, *, with_plan: str = "", when_read: str = "") -> None:
    """Go on with the node ``first``, with a predefined plan at ``with_plan``; greet who greets.

    A method of one action goes on at ``when_read`` where all its documents have been read whole.
    """
    edges: dict[Hashable, str]
    edges = {"greeting": "greeter", "no_plan": first, "predefined_plan": with_plan or first}
    if when_read:
        graph.add_conditional_edges("recall", starting, edges | {"read": when_read})
    else:
        graph.add_conditional_edges("recall", beginning, edges)


def begin_task(graph: Builder, first: str) -> None:
    """Bind the environment and go on with the node ``first``."""
    bind_environment(graph)
    graph.add_conditional_edges(
        "recall",
        opening,
        {"task": first, "greeting": "greeter", "no_plan": first, "predefined_plan": first},
    )


def bound(tools: Sequence[Tool]) -> dict[Hashable, str]:
    """The edges from a choice of ``tools`` to their nodes."""
    return {tool: tool for tool in tools}
