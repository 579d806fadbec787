"""The subgraphs that methods share: opening, tools and closing.

Each is one node of a method: ``opening``, ``tools``, ``documents``, ``closing``.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any

from langgraph.graph import END, START

from planweave.graphs.support.builder import Builder, Subgraph
from planweave.graphs.support.edges import (
    route_action,
    route_episode,
    route_message,
    route_message_or_whole,
    route_outcome,
    route_question,
    route_question_or_read,
    route_reading,
    route_task,
    route_to_tools,
)
from planweave.memory import BOUND_TOOL, Solving, Tasked, Tool, Tooled, Work
from planweave.nodes.acting.environment import environment
from planweave.nodes.acting.reporter import reporter
from planweave.nodes.deciding.bound_tool import bound_tool
from planweave.nodes.deciding.calculator import calculator
from planweave.nodes.deciding.query import query_node
from planweave.nodes.deciding.thinking import thinking
from planweave.nodes.documents.documents import documents
from planweave.nodes.documents.glossary import glossary
from planweave.nodes.documents.reader import reader, whole_reader
from planweave.nodes.documents.whole_collection import whole_collection, whole_glossary
from planweave.nodes.shared.citation_check import citation_check
from planweave.nodes.shared.greeter import greeter
from planweave.nodes.shared.intake import intake
from planweave.nodes.shared.interpreter import interpreter
from planweave.nodes.shared.recall import recall
from planweave.nodes.shared.speaker import speaker


class ToolState(Tooled, Tasked, total=False):
    """The state of tools and of the reading of documents; a method need not declare all of it."""


class ClosingState(Work, Solving, total=False):
    """The state of the closing."""


# -- opening --------------------------------------------------------------------------------------


def begin(
    graph: Builder,
    first: str,
    *,
    tools: Sequence[Tool] = (),
    with_plan: str = "",
    when_read: str = "",
    recalls: Callable[..., Any] | None = None,
) -> None:
    """Open a run and continue with the node ``first``; a greeting ends the run.

    Args:
        graph: The method.
        first: Its first node.
        tools: Its tools. If documents are among them, a collection that fits into one prompt is
            read whole.
        with_plan: The next node if there is a predefined plan.
        when_read: The next node of a method with one action if all documents have been read.
        recalls: A node that recalls more than the abbreviations.
    """
    edges: dict[Hashable, str] = {
        "greeting": END,
        "no_plan": first,
        "predefined_plan": with_plan or first,
    }
    _add_opening(graph, tools, recalls)
    if when_read:
        graph.add_conditional_edges("opening", route_question_or_read, edges | {"read": when_read})
    else:
        graph.add_conditional_edges("opening", route_question, edges)


def _add_opening(
    graph: Builder, tools: Sequence[Tool] = (), recalls: Callable[..., Any] | None = None
) -> None:
    part = opening(graph.state_schema, reads_whole="documents" in tools, recalls=recalls)
    graph.add_node("opening", part)
    graph.add_edge(START, "opening")


def opening(
    state: type[Any], *, reads_whole: bool = False, recalls: Callable[..., Any] | None = None
) -> Subgraph:
    """Make the subgraph that takes the question in and recalls what the owner has confirmed.

    It clears the work on an earlier question from ``state``. With ``reads_whole`` it reads a
    collection that fits into one prompt as a whole, once. The node ``recalls`` recalls more.
    """
    graph = Builder(state)
    graph.add_node("intake", intake(state))
    graph.add_node("interpreter", interpreter)
    graph.add_node("recall", recall)
    graph.add_node("greeter", greeter)

    graph.add_edge(START, "intake")
    edges: dict[Hashable, str]
    edges = {"greeting": "greeter", "first_question": "recall", "follow_up": "interpreter"}
    if reads_whole:
        _add_whole_reading(graph)
        whole_first: dict[Hashable, str] = {"whole": "whole_collection"}
        graph.add_conditional_edges("intake", route_message_or_whole, edges | whole_first)
        graph.add_conditional_edges(
            "interpreter", route_reading, whole_first | {"by_search": "recall"}
        )
    else:
        graph.add_conditional_edges("intake", route_message, edges)
        graph.add_edge("interpreter", "recall")
    if recalls:
        graph.add_node(recalls.__name__, recalls)
        graph.add_edge("recall", recalls.__name__)
    return graph.compile(name="opening")


def _add_whole_reading(graph: Builder) -> None:
    graph.add_node("whole_collection", whole_collection)
    graph.add_node("whole_reader", whole_reader)
    graph.add_node("whole_glossary", whole_glossary)
    graph.add_edge("whole_collection", "whole_reader")
    graph.add_edge("whole_reader", "whole_glossary")
    graph.add_edge("whole_glossary", "recall")


# -- tools ----------------------------------------------------------------------------------------


@cache
def tools(
    bound: tuple[Tool, ...], *, then: Callable[..., Any] | None = None, by_model: bool = True
) -> Subgraph:
    """Make the subgraph that carries out the chosen action, or several in parallel.

    The node ``then`` takes in the outcome of all of them. Without ``by_model`` no model rewrites a
    failed query.
    """
    nodes: dict[str, Any] = {
        "sql": query_node("database", by_model=by_model),
        "cypher": query_node("graph", by_model=by_model),
        "documents": build_reading(documents, reader, glossary),
        "calculator": calculator,
        "thinking": thinking,
        BOUND_TOOL: bound_tool,
    }
    graph = Builder(ToolState)
    for tool in bound:
        graph.add_node(tool, nodes[tool])
    graph.add_conditional_edges(START, route_to_tools, [*bound])
    if then:
        graph.add_node(then.__name__, then)
        for tool in bound:
            graph.add_edge(tool, then.__name__)
    return graph.compile(name="tools")


@cache
def build_reading(*nodes: Callable[..., Any], first: str = "search") -> Subgraph:
    """Make the subgraph that reads documents: a search, then the nodes that process the pages."""
    graph = Builder(ToolState, keeps=("action",))
    names = [first, *(node.__name__ for node in nodes[1:])]
    for name, node in zip(names, nodes, strict=True):
        graph.add_node(name, node)
    for name, behind in zip([START, *names], names, strict=False):
        graph.add_edge(name, behind)
    return graph.compile(name="documents")


# -- environments ---------------------------------------------------------------------------------


def begin_task(graph: Builder, first: str, *, tools: Sequence[Tool] = (), asked: str = "") -> None:
    """Open a run, bind the environment, and continue with the node ``first``."""
    _add_opening(graph, tools)
    graph.add_node("environment", environment)
    asked = asked or first
    graph.add_conditional_edges(
        "opening",
        route_task,
        {"task": first, "greeting": END, "no_plan": asked, "predefined_plan": asked},
    )


def act_and_observe(graph: Builder, role: str, *, then: str) -> None:
    """Add the edges of a loop: ``role`` acts, then ``then`` continues until the task is over."""
    graph.add_conditional_edges(
        role, route_action, {"acting": "environment", "at_a_limit": "closing", "unreadable": role}
    )
    graph.add_conditional_edges("environment", route_episode, {"over": "closing", "going_on": then})


# -- closing --------------------------------------------------------------------------------------


@cache
def closing(*, acts: bool = False, checks: bool = True) -> Subgraph:
    """Make the subgraph that checks the answer and writes it into the chat."""
    graph = Builder(ClosingState)
    graph.add_node("speaker", speaker)
    edges: dict[Hashable, str] = {"answered": "speaker"}
    if checks:
        graph.add_node("citation_check", citation_check)
        graph.add_edge("citation_check", "speaker")
        edges["answered"] = "citation_check"
    if acts:
        graph.add_node("reporter", reporter)
        graph.add_edge("reporter", "speaker")
        edges["acted"] = "reporter"
        graph.add_conditional_edges(START, route_outcome, edges)
    else:
        graph.add_edge(START, edges["answered"])
    return graph.compile(name="closing")


def add_closing(graph: Builder) -> None:
    """Add the node ``closing``, unless the method has its own, and end the run after it."""
    if "closing" not in graph.nodes:
        graph.add_node("closing", closing(acts="environment" in graph.nodes))
    graph.add_edge("closing", END)
