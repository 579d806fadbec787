"""The builder of a method's graph and of its subgraphs."""

import logging
import os
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import iscoroutinefunction, signature
from typing import Any, TypeAlias, get_type_hints

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from planweave.graphs.support.edges import run_context
from planweave.memory import Context, WorkingMemory, changes
from planweave.nodes.support.limits import limit_call_time
from planweave.nodes.support.progress import mark_subgraph

CHECK = "PLANWEAVE_STATE_CHECK"
"""Environment variable; if it is ``log``, an undeclared key is logged instead of raised."""

_log = logging.getLogger(__name__)


class UndeclaredKey(RuntimeError):
    """A node reads or returns a key that its method's state does not declare."""


Subgraph: TypeAlias = CompiledStateGraph[Any, Context, Any, Any]


class Builder(StateGraph[Any, Context, Any, Any]):
    """A graph whose nodes read and write one state.

    Args:
        state: The state that the nodes pass to each other.
        given: The input, if it is not the whole state.
        keeps: Keys that a subgraph does not pass to the graph around it.

    Attributes:
        parts: The nodes that are subgraphs.
    """

    def __init__(
        self,
        state: type[Any] = WorkingMemory,
        *,
        given: type[Any] | None = None,
        keeps: Collection[str] = (),
    ) -> None:
        super().__init__(state, context_schema=Context, input_schema=given)
        self.keeps = frozenset(keeps)
        self._keys = frozenset(get_type_hints(state))
        self.parts: dict[str, Subgraph] = {}

    def add_node(  # type: ignore[override]
        self, node: str, action: Callable[..., Any] | Subgraph, **options: Any
    ) -> "Builder":
        """Add a node with its function or subgraph; ``options`` are those of LangGraph."""
        if isinstance(action, CompiledStateGraph):
            self.parts[node] = action
            options.setdefault("input_schema", self.state_schema)
            super().add_node(node, _subgraph_node(action, self._keys), **options)  # type: ignore[call-overload]
        else:
            options.setdefault("input_schema", self._find_read_state(node, action))
            super().add_node(node, _with_checks(node, action, self._keys), **options)
        return self

    def add_conditional_edges(  # type: ignore[override]
        self, source: str, path: Callable[..., Any], path_map: Any = None
    ) -> "Builder":
        """Add the edges that ``path`` chooses from; its signature names the state that it reads."""
        first, read = next(iter(signature(path).parameters)), self._find_read_state(source, path)

        @wraps(path)
        def route(state: Any) -> Any:
            return path(state)

        route.__annotations__ = {**path.__annotations__, first: read}
        super().add_conditional_edges(source, route, path_map)
        return self

    def _find_read_state(self, node: str, action: Callable[..., Any]) -> type[Any]:
        """The part of the state that a node reads, by its signature."""
        first = next(iter(signature(action).parameters))
        read = get_type_hints(action).get(first, WorkingMemory)
        if read is WorkingMemory:
            return self.state_schema
        if unknown := get_type_hints(read).keys() - self._keys:
            raise UndeclaredKey(
                f"The node {node!r} reads {min(unknown)!r}, which its method's state does not "
                "declare."
            )
        known: type[Any] = read
        return known

    def subgraphs(self) -> dict[str, Subgraph]:
        """The subgraphs by name, each before the subgraphs inside it."""
        found: dict[str, Subgraph] = {}
        for name, part in self.parts.items():
            found[name] = part
            if isinstance(part.builder, Builder):
                found |= part.builder.subgraphs()
        return found

    def all_nodes(self) -> set[str]:
        """The names of its nodes and of the nodes of its subgraphs."""
        parts = (part.builder for part in self.subgraphs().values())
        return {name for one in (self, *parts) for name in one.nodes}


def _subgraph_node(graph: Subgraph, outer_keys: Collection[str]) -> Callable[[WorkingMemory], Any]:
    """Make the node that runs a subgraph and returns what the subgraph has changed.

    LangGraph itself would return the subgraph's whole state, and the reducers would add it again.
    Keys that the outer state does not declare stay inside.
    """
    schema, builder = graph.builder.state_schema, graph.builder
    keeps = builder.keeps if isinstance(builder, Builder) else frozenset()
    inner_keys = frozenset(get_type_hints(schema))

    async def run(state: WorkingMemory) -> dict[str, Any]:
        with mark_subgraph():
            after = await graph.ainvoke({k: v for k, v in state.items() if k in inner_keys})
        written = {k: v for k, v in after.items() if k in outer_keys and k not in keeps}
        return changes(schema, state, written)

    return run


def _with_checks(
    node: str, action: Callable[..., Any], keys: Collection[str]
) -> Callable[..., Any]:
    """Wrap a node: it ends with the time of the run, and its update is checked."""

    @wraps(action)
    def run(*args: Any, **kwargs: Any) -> Any:
        return _check_declared(node, action(*args, **kwargs), keys)

    @wraps(action)
    async def run_async(state: Any, *args: Any, **kwargs: Any) -> Any:
        with limit_call_time(state, run_context()):
            return _check_declared(node, await action(state, *args, **kwargs), keys)

    return run_async if iscoroutinefunction(action) else run


def _check_declared(node: str, update: Any, keys: Collection[str]) -> Any:
    if isinstance(update, Mapping) and (unknown := [key for key in update if key not in keys]):
        text = (
            f"The node {node!r} returned {unknown[0]!r}, which its method's state does not declare."
        )
        if os.environ.get(CHECK) != "log":
            raise UndeclaredKey(text)
        _log.warning(text)
    return update
