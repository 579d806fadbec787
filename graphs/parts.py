"""What every method has: tools bound as nodes, and how a run is opened and ends."""

from collections.abc import Hashable, Sequence
from typing import Any

from langgraph.graph import END, START

from planweave.graphs.builder import Builder
from planweave.graphs.edges import acting, beginning, conversing, opening, over
from planweave.memory import Tool, WorkingMemory
from planweave.nodes.calculator import calculator
from planweave.nodes.citation_check import citation_check
from planweave.nodes.documents import documents
from planweave.nodes.environment import environment
from planweave.nodes.glossary import glossary
from planweave.nodes.grader import grader
from planweave.nodes.greeter import greeter
from planweave.nodes.intake import intake
from planweave.nodes.interpreter import interpreter
from planweave.nodes.query import query_node
from planweave.nodes.reader import reader
from planweave.nodes.recall import recall
from planweave.nodes.reporter import reporter
from planweave.nodes.speaker import speaker
from planweave.nodes.thinking import thinking

_NODES: dict[str, Any] = {
    "sql": query_node("database"),
    "cypher": query_node("graph"),
    "calculator": calculator,
    "thinking": thinking,
}


def method_builder(state: type[WorkingMemory] = WorkingMemory) -> Builder:
    """A graph with what comes first, up to ``recall``, and last, from ``citation_check``."""
    builder = Builder(state)
    builder.add_node("intake", intake)
    builder.add_node("interpreter", interpreter)
    builder.add_node("recall", recall)
    builder.add_node("greeter", greeter)
    builder.add_node("citation_check", citation_check)
    builder.add_node("speaker", speaker)
    builder.add_edge(START, "intake")
    builder.add_conditional_edges(
        "intake", conversing, {"first_question": "recall", "follow_up": "interpreter"}
    )
    builder.add_edge("interpreter", "recall")
    builder.add_edge("greeter", END)
    builder.add_edge("citation_check", "speaker")
    builder.add_edge("speaker", END)
    return builder


def bind_tools(builder: Builder, tools: Sequence[Tool]) -> list[str]:
    """Add a node for each tool; returns the nodes in which the tools end.

    Documents are a chain of nodes: search, grade, read, learn abbreviations.
    """
    for tool in tools:
        if tool in _NODES:
            builder.add_node(tool, _NODES[tool])
    ends: list[str] = [tool for tool in tools if tool in _NODES]
    if "documents" not in tools:
        return ends
    builder.add_node("documents", documents)
    builder.add_node("grader", grader)
    builder.add_node("reader", reader)
    builder.add_node("glossary", glossary)
    builder.add_edge("documents", "grader")
    builder.add_edge("grader", "reader")
    builder.add_edge("reader", "glossary")
    return [*ends, "glossary"]


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


def begin(graph: Builder, first: str, *, with_plan: str = "") -> None:
    """Go on with the node ``first``, with a predefined plan at ``with_plan``; greet who greets."""
    graph.add_conditional_edges(
        "recall",
        beginning,
        {"greeting": "greeter", "no_plan": first, "predefined_plan": with_plan or first},
    )


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
