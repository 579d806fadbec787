"""What every method has: how a run is opened, how tools are carried out, how it is closed.

Each is a graph that is one node of a method: ``opening``, ``tools``, ``documents``, ``closing``.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any

from langgraph.graph import END, START

from planweave.graphs.support.builder import Builder, Subgraph
from planweave.graphs.support.edges import (
    acting,
    asked,
    asked_of_documents,
    at_once,
    beginning,
    opening_task,
    outcome,
    over,
    reading,
    starting,
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
    """What tools and the reading of documents know; a method need not have all of it."""


class ClosingState(Work, Solving, total=False):
    """What is known at the end."""


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
    """Open a run and go on with the node ``first``; a greeting is only answered.

    Args:
        graph: The method.
        first: Its first node.
        tools: Its tools: with documents among them a collection that fits into one prompt is read
            whole.
        with_plan: Where it goes on with a predefined plan.
        when_read: Where a method of one action goes on whose documents have all been read.
        recalls: A node that recalls more.
    """
    edges: dict[Hashable, str] = {
        "greeting": END,
        "no_plan": first,
        "predefined_plan": with_plan or first,
    }
    _open(graph, tools, recalls)
    if when_read:
        graph.add_conditional_edges("opening", starting, edges | {"read": when_read})
    else:
        graph.add_conditional_edges("opening", beginning, edges)


def _open(
    graph: Builder, tools: Sequence[Tool] = (), recalls: Callable[..., Any] | None = None
) -> None:
    part = opening(graph.state_schema, whole="documents" in tools, recalls=recalls)
    graph.add_node("opening", part)
    graph.add_edge(START, "opening")


def opening(
    state: type[Any], *, whole: bool = False, recalls: Callable[..., Any] | None = None
) -> Subgraph:
    """Make the part that takes the question up and recalls what bears on it.

    What ``state`` holds of an earlier question is emptied. With ``whole`` a collection that fits
    into one prompt is read whole, once; the node ``recalls`` recalls more.
    """
    graph = Builder(state)
    graph.add_node("intake", intake(state))
    graph.add_node("interpreter", interpreter)
    graph.add_node("recall", recall)
    graph.add_node("greeter", greeter)

    graph.add_edge(START, "intake")
    ways: dict[Hashable, str]
    ways = {"greeting": "greeter", "first_question": "recall", "follow_up": "interpreter"}
    if whole:
        _read_whole(graph)
        whole_first: dict[Hashable, str] = {"whole": "whole_collection"}
        graph.add_conditional_edges("intake", asked_of_documents, ways | whole_first)
        graph.add_conditional_edges("interpreter", reading, whole_first | {"by_search": "recall"})
    else:
        graph.add_conditional_edges("intake", asked, ways)
        graph.add_edge("interpreter", "recall")
    if recalls:
        graph.add_node(recalls.__name__, recalls)
        graph.add_edge("recall", recalls.__name__)
    return graph.compile(name="opening")


def _read_whole(graph: Builder) -> None:
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
    """Make the part that carries the chosen action out, or several at once.

    The node ``then`` takes in what all of them have led to. Without ``by_model`` no query is
    written by a model in place of one that fails.
    """
    nodes: dict[str, Any] = {
        "sql": query_node("database", by_model=by_model),
        "cypher": query_node("graph", by_model=by_model),
        "documents": reading_of(documents, reader, glossary),
        "calculator": calculator,
        "thinking": thinking,
        BOUND_TOOL: bound_tool,
    }
    graph = Builder(ToolState)
    for tool in bound:
        graph.add_node(tool, nodes[tool])
    graph.add_conditional_edges(START, at_once, [*bound])
    if then:
        graph.add_node(then.__name__, then)
        for tool in bound:
            graph.add_edge(tool, then.__name__)
    return graph.compile(name="tools")


@cache
def reading_of(*nodes: Callable[..., Any]) -> Subgraph:
    """Make the part that reads documents by these nodes: a search, and what is done with pages."""
    graph = Builder(ToolState, keeps=("action",))
    names = ["search", *(node.__name__ for node in nodes[1:])]
    for name, node in zip(names, nodes, strict=True):
        graph.add_node(name, node)
    for name, behind in zip([START, *names], names, strict=False):
        graph.add_edge(name, behind)
    return graph.compile(name="documents")


# -- environments ---------------------------------------------------------------------------------


def begin_task(graph: Builder, first: str, *, tools: Sequence[Tool] = (), asked: str = "") -> None:
    """Open a run, bind the environment, and go on with the node ``first``."""
    _open(graph, tools)
    graph.add_node("environment", environment)
    asked = asked or first
    graph.add_conditional_edges(
        "opening",
        opening_task,
        {"task": first, "greeting": END, "no_plan": asked, "predefined_plan": asked},
    )


def act_and_observe(graph: Builder, role: str, *, then: str) -> None:
    """Add the edges of the loop: ``role`` acts, and ``then`` goes on until the task is over."""
    graph.add_conditional_edges(
        role, acting, {"acting": "environment", "at_a_limit": "closing", "unreadable": role}
    )
    graph.add_conditional_edges("environment", over, {"over": "closing", "going_on": then})


# -- closing --------------------------------------------------------------------------------------


@cache
def closing(*, acts: bool = False, checks: bool = True) -> Subgraph:
    """Make the part that checks the answer and says it."""
    graph = Builder(ClosingState)
    graph.add_node("speaker", speaker)
    ways: dict[Hashable, str] = {"answered": "speaker"}
    if checks:
        graph.add_node("citation_check", citation_check)
        graph.add_edge("citation_check", "speaker")
        ways["answered"] = "citation_check"
    if acts:
        graph.add_node("reporter", reporter)
        graph.add_edge("reporter", "speaker")
        ways["acted"] = "reporter"
        graph.add_conditional_edges(START, outcome, ways)
    else:
        graph.add_edge(START, ways["answered"])
    return graph.compile(name="closing")


def complete(graph: Builder) -> None:
    """Add ``closing``, where the method has none of its own; it ends the run."""
    if "closing" not in graph.nodes:
        graph.add_node("closing", closing(acts="environment" in graph.nodes))
    graph.add_edge("closing", END)
