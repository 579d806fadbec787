"""The graph of a method before it is compiled, and of the parts that are one node of it."""

import logging
import os
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, TypeAlias, get_type_hints

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from planweave.memory import Context, Input, WorkingMemory, changes
from planweave.nodes.support.progress import within

CHECK = "PLANWEAVE_STATE_CHECK"
"""``log`` in the environment: an undeclared key is logged, as a server does, instead of raised."""

_log = logging.getLogger(__name__)


class UndeclaredKey(RuntimeError):
    """A node returned a key that its method's state does not declare; LangGraph would drop it."""


Subgraph: TypeAlias = CompiledStateGraph[Any, Context, Any, Any]


class Builder(StateGraph[WorkingMemory, Context, Input, WorkingMemory]):
    """A graph whose nodes read and write one state.

    Args:
        state: What the nodes of the method pass to each other.
        given: What it begins with.
        keeps: Of a graph that is a node of another: what it keeps to itself.

    Attributes:
        parts: Its nodes that are graphs themselves.
    """

    def __init__(
        self,
        state: type[WorkingMemory] = WorkingMemory,
        *,
        given: type[Any] = Input,
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
        options.setdefault("input_schema", self.state_schema)
        if isinstance(action, CompiledStateGraph):
            self.parts[node] = action
            super().add_node(node, _inside(action), **options)  # type: ignore[call-overload]
        else:
            super().add_node(node, _checked(node, action, self._keys), **options)
        return self

    def subgraphs(self) -> dict[str, Subgraph]:
        """Its subgraphs by name, each before those inside it."""
        found: dict[str, Subgraph] = {}
        for name, part in self.parts.items():
            found[name] = part
            if isinstance(part.builder, Builder):
                found |= part.builder.subgraphs()
        return found


def _inside(graph: Subgraph) -> Callable[[WorkingMemory], Any]:
    """The node that carries out a subgraph; its update is what the subgraph has changed.

    LangGraph itself would give all that the subgraph knows, and the reducers would add it again.
    """
    keeps = graph.builder.keeps if isinstance(graph.builder, Builder) else ()

    async def inside(state: WorkingMemory) -> dict[str, Any]:
        with within():
            after = await graph.ainvoke(state)
        told = {name: value for name, value in after.items() if name not in keeps}
        return changes(graph.builder.state_schema, state, told)

    return inside


def _checked(node: str, action: Callable[..., Any], keys: Collection[str]) -> Callable[..., Any]:
    """The node's function, with a look at what it returns."""

    @wraps(action)
    def plain(*given: Any, **named: Any) -> Any:
        return _declared(node, action(*given, **named), keys)

    @wraps(action)
    async def awaited(*given: Any, **named: Any) -> Any:
        return _declared(node, await action(*given, **named), keys)

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
