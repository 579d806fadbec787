"""The graph of a method before it is compiled; what its nodes return must be declared."""

import logging
import os
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, get_type_hints

from langgraph.graph import StateGraph

from planweave.memory import Context, Input, WorkingMemory

CHECK = "PLANWEAVE_STATE_CHECK"
"""``log`` in the environment: an undeclared key is logged, as a server does, instead of raised."""

_log = logging.getLogger(__name__)


class UndeclaredKey(RuntimeError):
    """A node returned a key that its method's state does not declare; LangGraph would drop it."""


class Builder(StateGraph[WorkingMemory, Context, Input, WorkingMemory]):
    """A graph whose nodes read and write one state.

    Args:
        state: What the nodes of the method pass to each other.
    """

    def __init__(self, state: type[WorkingMemory] = WorkingMemory) -> None:
        super().__init__(state, context_schema=Context, input_schema=Input)
        self._keys = frozenset(get_type_hints(state))

    def add_node(self, node: str, action: Callable[..., Any], **options: Any) -> "Builder":  # type: ignore[override]
        """Add a node: its name and its function; ``options`` are LangGraph's."""
        options.setdefault("input_schema", self.state_schema)
        super().add_node(node, _checked(node, action, self._keys), **options)
        return self


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
