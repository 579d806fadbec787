"""Runs a graph, for the command line, library, servers, benchmarks and ensembles alike."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple, TypeAlias, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from planweave import BadInput
from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import RECURSION_LIMIT
from planweave.graphs.support.events import Event, EventReader
from planweave.graphs.support.registry import METHODS
from planweave.memory import Context, WorkingMemory
from planweave.models import price_of
from planweave.nodes.support.progress import DOING
from planweave.tools.suggest import did_you_mean

Graph: TypeAlias = CompiledStateGraph[WorkingMemory, Context, Any, WorkingMemory]
"""A compiled method; its input is ``Any``, since LangGraph accepts more forms than its types
say."""


def graph(
    name: str,
    *,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    store: BaseStore | None = None,
) -> Graph:
    """The compiled graph of a method.

    Args:
        name: The method; `planweave methods` lists them.
        checkpointer: Stores threads, so that a run can be interrupted, resumed and inspected.
        store: Stores what is known of an owner from one thread to the next.
    """
    method = METHODS.get(name)
    is_stored = checkpointer is not None or store is not None
    compiled = (
        method.compiled(checkpointer=checkpointer, store=store) if is_stored else method.graph
    )
    return cast("Graph", compiled)


def check_order(name: str, context: Context, *, with_plan: bool) -> None:
    """Refuse what a run would ignore or reject too late: plans, unknown roles, wrong prices."""
    method = METHODS.get(context.ensemble_of if name == "ensemble" else name)
    if with_plan and not method.uses_plan:
        raise BadInput(
            f"The method {method.name} uses no plan.",
            fix="Leave out the plan, or choose the method planrag or agent_v3.",
        )
    price_of(context.model)  # reads the file of prices
    is_ours = method.wire.__module__.startswith("planweave.")  # others may have roles of their own
    for role in context.models if is_ours else ():
        if role not in DOING:
            raise BadInput(
                f"There is no role {role!r}{did_you_mean(role, DOING)}",
                fix=f"The roles are: {', '.join(DOING)}.",
            )


class StreamPart(NamedTuple):
    """A part of LangGraph's stream: the subgraphs it comes from, its mode, and its data."""

    space: tuple[str, ...]
    mode: str
    data: Any


async def parts(
    graph: Graph,
    given: Any,
    context: Context,
    *,
    modes: Collection[str],
    config: Mapping[str, Any] | None = None,
    on_call: Callable[[Mapping[str, Any]], None] | None = None,
    **options: Any,
) -> AsyncGenerator[StreamPart]:
    """Run a graph; every run goes through here. Stopping the iteration stops the run.

    Args:
        graph: A compiled method.
        given: The input, a ``Command``, or None to continue from the last checkpoint.
        context: The settings of the run.
        modes: LangGraph's stream modes.
        config: LangGraph's configuration, such as the thread.
        on_call: Called with the record of each call of a model when it has ended.
        options: Further arguments of ``astream``.
    """
    full_config: Any = {"recursion_limit": RECURSION_LIMIT, **(config or {})}
    stream_modes: Any = [*{*modes, "custom"}]
    depth, subgraphs = len(_current_space()), subgraphs_of(graph.builder)
    stream: Any = graph.astream(
        given, full_config, context=context, stream_mode=stream_modes, subgraphs=True, **options
    )
    async with aclosing(stream):
        async for full_space, mode, data in stream:
            space = full_space[depth:]
            if not belongs(space, subgraphs):
                continue  # another run, which a node of this one has started
            if on_call and mode == "custom" and "call" in data:
                on_call(data["call"])
            if mode in modes:
                yield StreamPart(space, mode, data)


def _current_space() -> tuple[str, ...]:
    """The subgraphs around this call, if it is inside a node of another graph."""
    try:
        place = get_config()["configurable"].get("checkpoint_ns", "")
    except RuntimeError:
        return ()
    return tuple(place.split("|")) if place else ()


def subgraphs_of(builder: object) -> frozenset[str]:
    """The names of the nodes that are subgraphs."""
    return frozenset(builder.subgraphs()) if isinstance(builder, Builder) else frozenset()


def belongs(space: Sequence[str], subgraphs: Collection[str]) -> bool:
    """Whether a part of a stream comes from one of these subgraphs or from the graph itself."""
    return all(name.partition(":")[0] in subgraphs for name in space)


async def events(
    graph: Graph,
    given: Any,
    context: Context,
    *,
    thread: str | None = None,
    tokens: bool = False,
    config: Mapping[str, Any] | None = None,
    **options: Any,
) -> AsyncGenerator[Event]:
    """Run a graph and yield its events, up to the answer or a request for approval.

    It takes the arguments of :func:`parts`. A checkpointer stores the run under ``thread``. With
    ``tokens`` it also yields pieces of replies.
    """
    if thread:
        config = {**(config or {}), "configurable": {"thread_id": thread}}
    reader = EventReader(graph.get_name(), thread)
    modes = ["updates", "values", "custom", *(["messages"] if tokens else [])]
    run = parts(graph, given, context, modes=modes, config=config, **options)
    async with aclosing(run):
        async for part in run:
            for event in reader.read(part.mode, part.data, part.space):
                yield event
    yield reader.end()
