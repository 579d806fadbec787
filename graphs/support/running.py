"""How a graph is run: by command line, library, servers, benchmarks and ensembles alike."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple, TypeAlias, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from planweave.graphs.support.builder import Builder
from planweave.graphs.support.edges import RECURSION_LIMIT
from planweave.graphs.support.events import Event, EventReader
from planweave.graphs.support.registry import METHODS
from planweave.memory import Context, WorkingMemory

Graph: TypeAlias = CompiledStateGraph[WorkingMemory, Context, Any, WorkingMemory]
"""A compiled method; its input is any, as LangGraph takes messages in more forms than it types."""


def graph(
    name: str,
    *,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    store: BaseStore | None = None,
) -> Graph:
    """The compiled graph of a method, for everything that LangGraph can do with one.

    Args:
        name: The method; `planweave methods` lists them.
        checkpointer: Keeps threads, so that a run can be interrupted, continued and inspected.
        store: Keeps what is known of an owner from one thread to the next.
    """
    method = METHODS.get(name)
    kept = checkpointer is not None or store is not None
    compiled = method.compiled(checkpointer=checkpointer, store=store) if kept else method.graph
    return cast("Graph", compiled)


class StreamPart(NamedTuple):
    """A part of LangGraph's stream: the subgraphs it comes from, its mode, and what it holds."""

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
    **how: Any,
) -> AsyncGenerator[StreamPart]:
    """Run a graph; every run goes through here. To stop the iteration stops the run.

    Args:
        graph: A compiled method.
        given: The input, a ``Command``, or None to go on from the last checkpoint.
        context: The settings of the run.
        modes: LangGraph's stream modes.
        config: LangGraph's configuration, such as the thread.
        on_call: Takes the record of each call of a model, as soon as it is over.
        how: Further arguments of ``astream``.
    """
    bounded: Any = {"recursion_limit": RECURSION_LIMIT, **(config or {})}
    wanted: Any = [*{*modes, "custom"}]
    own, subgraphs = len(_space()), subgraphs_of(graph.builder)
    stream: Any = graph.astream(
        given, bounded, context=context, stream_mode=wanted, subgraphs=True, **how
    )
    async with aclosing(stream):
        async for found, mode, data in stream:
            space = found[own:]
            if not belongs(space, subgraphs):
                continue  # another run, which a node of this one has begun
            if on_call and mode == "custom" and "call" in data:
                on_call(data["call"])
            if mode in modes:
                yield StreamPart(space, mode, data)


def _space() -> tuple[str, ...]:
    """Where this is, if it is in a node of another graph."""
    try:
        place = get_config()["configurable"].get("checkpoint_ns", "")
    except RuntimeError:
        return ()
    return tuple(place.split("|")) if place else ()


def subgraphs_of(builder: object) -> frozenset[str]:
    """The names of the nodes that are graphs themselves."""
    return frozenset(builder.subgraphs()) if isinstance(builder, Builder) else frozenset()


def belongs(space: Sequence[str], subgraphs: Collection[str]) -> bool:
    """Whether a part of a stream comes from these subgraphs, or from the graph itself."""
    return all(name.partition(":")[0] in subgraphs for name in space)


async def events(
    graph: Graph,
    given: Any,
    context: Context,
    *,
    thread: str | None = None,
    tokens: bool = False,
    config: Mapping[str, Any] | None = None,
    **how: Any,
) -> AsyncGenerator[Event]:
    """Run a graph and report what happens: to its answer, or until a person is asked.

    It takes what :func:`parts` takes. A checkpointer keeps the run under ``thread``; with
    ``tokens`` pieces of replies are reported, too.
    """
    if thread:
        config = {**(config or {}), "configurable": {"thread_id": thread}}
    reader = EventReader(graph.get_name(), thread)
    modes = ["updates", "values", "custom", *(["messages"] if tokens else [])]
    run = parts(graph, given, context, modes=modes, config=config, **how)
    async with aclosing(run):
        async for part in run:
            for event in reader.read(part.mode, part.data, part.space):
                yield event
    yield reader.end()
