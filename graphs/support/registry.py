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
"""What a method is for: decisions on databases, decisions by learned paths alone, questions to
documents, drafts, multi-hop questions, tasks of environments, or whatever another method does."""

_ORDER = (
    *("planrag", "planrag_no_replan", "iter_rag", "single_rag", "path_policy"),
    *("agent_v1", "agent_v2", "agent_v3", "react", "autogpt"),
    *("rat", "rag", "cot", "direct", "whole_document", "furepa", "ircot"),
    *("instructrag", "rap", "reflexion", "genground", "ensemble"),
)
"""In which our own are listed: by family, a paper's method before its baselines."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Method:
    """A state machine that answers questions or solves tasks.

    Attributes:
        wire: Adds its nodes and edges to a graph that has what every method has.
        state: What its nodes pass to each other; all of working memory if None.
        baseline: Whether it is a baseline of a paper, which benchmarks run without the aids for
            small models unless they are asked for.
    """

    name: str
    family: Family
    wire: "Callable[[Builder], None]"
    state: type[Any] | None = None
    baseline: bool = False

    @property
    def description(self) -> str:
        """What it does, in one sentence."""
        return (inspect.getdoc(inspect.getmodule(self.wire)) or "").partition("\n")[0]

    @cached_property
    def builder(self) -> "Builder":
        """The graph before it is compiled."""
        from planweave.graphs.support.builder import Builder
        from planweave.graphs.support.parts import complete
        from planweave.memory import Input, WorkingMemory

        builder = Builder(self.state or WorkingMemory, given=Input)
        self.wire(builder)
        complete(builder)
        return builder

    @cached_property
    def graph(self) -> Any:
        """The compiled graph, whose parts LangGraph types as Any."""
        return self.compiled()

    def compiled(self, **parts: Any) -> Any:
        """The graph with a checkpointer, a store or interrupts, as ``StateGraph.compile`` takes."""
        from planweave.graphs.support.edges import RECURSION_LIMIT

        compiled = self.builder.compile(name=self.name, **parts)
        return compiled.with_config(recursion_limit=RECURSION_LIMIT)


def _own() -> dict[str, str]:
    files = {path.stem for path in Path(__file__).parents[1].glob("*.py")} - {"__init__"}
    names = (*_ORDER, *sorted(files - set(_ORDER)))
    return {name: f"planweave.graphs.{name}" for name in names if name in files}


METHODS: Registry[Method] = Registry(
    "method", accepts=lambda found: isinstance(found, Method), own=_own()
)
"""Every method by name."""


def method(
    name: str,
    *,
    family: Family,
    baseline: bool = False,
    state: type[Any] | None = None,
) -> "Callable[[Callable[[Builder], None]], Method]":
    """Decorate the function that wires a method; the first line of its module describes it.

    Args:
        name: Under which it is asked for.
        family: What it is for.
        state: Its working memory: a sum of concerns (``planweave.memory``), and what only its own
            nodes write; all of working memory if None.
        baseline: Whether it is a baseline of a paper.
    """
    if family not in get_args(Family):
        raise BadInput(
            f"The method {name!r} is of no family {family!r}.",
            fix=f"The families are: {', '.join(get_args(Family))}.",
        )

    def registered(wire: "Callable[[Builder], None]") -> Method:
        return METHODS.add(
            name, Method(name=name, family=family, wire=wire, baseline=baseline, state=state)
        )

    return registered


def of_family(family: Family) -> tuple[str, ...]:
    """Names of the methods of a family."""
    return tuple(name for name, one in METHODS.usable().items() if one.family == family)
