"""The methods: each is a module of this folder, or comes from an installed package.

::

    @method("step_back", family="documents")
    def step_back(graph: Builder) -> None:
        graph.add_node(...)

The first line of the module describes the method. A package outside names such a module in the
entry-point group ``planweave.methods``.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from planweave.errors import BadInput
from planweave.registry import Registry

if TYPE_CHECKING:
    from planweave.graphs.support.builder import Builder

Family: TypeAlias = Literal["decide", "learned", "documents", "write", "hops", "act", "any"]
"""The purpose of a method: decisions on databases, decisions by learned paths alone, questions to
documents, drafts, multi-hop questions, tasks of environments, or any."""

_ORDER = (
    *("planrag", "planrag_no_replan", "iter_rag", "single_rag", "path_policy"),
    *("agent_v1", "agent_v2", "agent_v3", "react", "autogpt"),
    *("rat", "rag", "cot", "direct", "whole_document", "furepa", "ircot"),
    *("instructrag", "rap", "reflexion", "genground", "ensemble"),
)
"""The order of our own methods: by family, a paper's method before its baselines."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Method:
    """A state machine that answers questions or solves tasks.

    Attributes:
        wire: Adds its nodes and edges to a graph.
        state: The state that its nodes pass to each other; all of working memory if None.
        baseline: Whether it is a baseline of a paper. Benchmarks run baselines without the aids
            for small models unless the caller asks for them.
        uses_plan: Whether it uses a given plan.
    """

    name: str
    family: Family
    wire: "Callable[[Builder], None]"
    state: type[Any] | None = None
    baseline: bool = False
    uses_plan: bool = True

    @property
    def description(self) -> str:
        """What it does, in one sentence."""
        return (inspect.getdoc(inspect.getmodule(self.wire)) or "").partition("\n")[0]

    @cached_property
    def builder(self) -> "Builder":
        """The graph before it is compiled."""
        from planweave.graphs.support.builder import Builder
        from planweave.graphs.support.parts import add_closing
        from planweave.memory import Input, WorkingMemory

        builder = Builder(self.state or WorkingMemory, given=Input)
        self.wire(builder)
        add_closing(builder)
        return builder

    @cached_property
    def graph(self) -> Any:
        """The compiled graph, whose parts LangGraph types as Any."""
        return self.compiled()

    def compiled(self, **parts: Any) -> Any:
        """Compile the graph, with arguments of ``StateGraph.compile`` such as a checkpointer."""
        from planweave.graphs.support.edges import RECURSION_LIMIT

        compiled = self.builder.compile(name=self.name, **parts)
        return compiled.with_config(recursion_limit=RECURSION_LIMIT)


def _own_modules() -> dict[str, str]:
    files = {path.stem for path in Path(__file__).parents[1].glob("*.py")} - {"__init__"}
    names = (*_ORDER, *sorted(files - set(_ORDER)))
    return {name: f"planweave.graphs.{name}" for name in names if name in files}


METHODS: Registry[Method] = Registry(
    "method", accepts=lambda found: isinstance(found, Method), own=_own_modules()
)
"""Every method by name."""


def method(
    name: str,
    *,
    family: Family,
    baseline: bool = False,
    state: type[Any] | None = None,
    uses_plan: bool = True,
) -> "Callable[[Callable[[Builder], None]], Method]":
    """Decorate the function that wires a method; the first line of its module describes it.

    Args:
        name: Its name.
        family: Its purpose.
        state: Its working memory: a sum of concerns (``planweave.memory``) and the keys that only
            its own nodes write; all of working memory if None.
        baseline: Whether it is a baseline of a paper.
        uses_plan: Whether it uses a given plan; otherwise a run with one is refused.
    """
    if family not in get_args(Family):
        raise BadInput(
            f"The method {name!r} is of no family {family!r}.",
            fix=f"The families are: {', '.join(get_args(Family))}.",
        )

    def register(wire: "Callable[[Builder], None]") -> Method:
        made = Method(
            name=name,
            family=family,
            wire=wire,
            baseline=baseline,
            state=state,
            uses_plan=uses_plan,
        )
        return METHODS.add(name, made)

    return register


def of_family(family: Family) -> tuple[str, ...]:
    """Names of the methods of a family."""
    return tuple(name for name, one in METHODS.usable().items() if one.family == family)
