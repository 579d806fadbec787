"""The graph of a method before it is compiled, and of the parts that are one node of it."""

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
from planweave.nodes.support.limits import time_left
from planweave.nodes.support.progress import within

CHECK = "PLANWEAVE_STATE_CHECK"
"""``log`` in the environment: an undeclared key is logged, as a server does, instead of raised."""

_log = logging.getLogger(__name__)


class UndeclaredKey(RuntimeError):
    """A node reads or returned a key that its method's state does not declare."""


Subgraph: TypeAlias = CompiledStateGraph[Any, Context, Any, Any]


class Builder(StateGraph[Any, Context, Any, Any]):
    """A graph whose nodes read and write one state.

    Args:
        state: What the nodes of the method pass to each other.
        given: What it begins with, if it is not the whole state.
        keeps: Of a graph that is a node of another: what it keeps to itself.

    Attributes:
        parts: Its nodes that are graphs themselves.
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
        """Add a node: its name and its function, or its subgraph; ``options`` are LangGraph's."""
        if isinstance(action, CompiledStateGraph):
            self.parts[node] = action
            options.setdefault("input_schema", self.state_schema)
            super().add_node(node, _inside(action, self._keys), **options)  # type: ignore[call-overload]
        else:
            options.setdefault("input_schema", self._read_by(node, action))
            super().add_node(node, _checked(node, action, self._keys), **options)
        return self

    def add_conditional_edges(  # type: ignore[override]
        self, source: str, path: Callable[..., Any], path_map: Any = None
    ) -> "Builder":
        """Add the edges that ``path`` chooses from; it reads what its signature names."""
        first, read = next(iter(signature(path).parameters)), self._read_by(source, path)

        @wraps(path)
        def chosen(state: Any) -> Any:
            return path(state)

        chosen.__annotations__ = {**path.__annotations__, first: read}
        super().add_conditional_edges(source, chosen, path_map)
        return self

    def _read_by(self, node: str, action: Callable[..., Any]) -> type[Any]:
        """The slice of the state that a node reads, as its signature names it."""
        first = next(iter(signature(action).parameters))
        read = get_type_hints(action).get(first, WorkingMemory)
        if read is WorkingMemory:  # whatever its method knows
            return self.state_schema
        if unknown := get_type_hints(read).keys() - self._keys:
            raise UndeclaredKey(
                f"The node {node!r} reads {min(unknown)!r}, which its method's state does not "
                "declare."
            )
        known: type[Any] = read
        return known

    def subgraphs(self) -> dict[str, Subgraph]:
        """Its subgraphs by name, each before those inside it."""
        found: dict[str, Subgraph] = {}
        for name, part in self.parts.items():
            found[name] = part
            if isinstance(part.builder, Builder):
                found |= part.builder.subgraphs()
        return found


def _inside(graph: Subgraph, known: Collection[str]) -> Callable[[WorkingMemory], Any]:
    """The node that carries out a subgraph; its update is what the subgraph has changed.

    LangGraph itself would give all that the subgraph knows, and the reducers would add it again.
    What the state around it does not know stays inside.
    """
    schema, builder = graph.builder.state_schema, graph.builder
    keeps = builder.keeps if isinstance(builder, Builder) else frozenset()
    inner = frozenset(get_type_hints(schema))

    async def inside(state: WorkingMemory) -> dict[str, Any]:
        with within():
            after = await graph.ainvoke({k: v for k, v in state.items() if k in inner})
        written = {k: v for k, v in after.items() if k in known and k not in keeps}
        return changes(schema, state, written)

    return inside


def _checked(node: str, action: Callable[..., Any], keys: Collection[str]) -> Callable[..., Any]:
    """The node's function within the time of the run, with a look at what it returns."""

    @wraps(action)
    def plain(*given: Any, **named: Any) -> Any:
        return _declared(node, action(*given, **named), keys)

    @wraps(action)
    async def awaited(state: Any, *given: Any, **named: Any) -> Any:
        with time_left(state, run_context()):
            return _declared(node, await action(state, *given, **named), keys)

    return awaited if iscoroutinefunction(action) else plain


def _declared(node: str, update: Any, keys: Collection[str]) -> Any:
    if isinstance(update, Mapping) and (unknown := [key for key in update if key not in keys]):
        text = (
            f"The node {node!r} returned {unknown[0]!r}, which its method's state does not declare."
        )
        if os.environ.get(CHECK) != "log":
            raise UndeclaredKey(text)
        _log.warning(text)
    return update
