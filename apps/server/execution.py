"""Execution of one run."""

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from langgraph.types import Command, StateSnapshot

from planweave.apps.server.requests import Place, RunRequest
from planweave.apps.server.runs import RunClaim
from planweave.apps.server.wire import encode
from planweave.graphs.support.edges import RECURSION_LIMIT
from planweave.graphs.support.running import Graph, parts
from planweave.memory import Context

Publish = Callable[[str, Any], None]
"""Publishes an event of the run: its name and data."""

NAMES = {"messages-tuple": "messages"}
"""Names of events that differ from their stream mode."""


async def carry_out(
    claim: RunClaim,
    graph: Graph,
    context: Context,
    publish: Publish,
    on_call: Callable[[Any], None],
) -> None:
    """Run the graph from the run's checkpoint to its end or to an interrupt."""
    request = RunRequest.model_validate(claim.payload)
    config = _config(claim, request)
    graph_input = await _graph_input(claim, graph, request, config)
    wanted = {NAMES.get(mode, mode) for mode in claim.payload["stream_mode"]}
    if wanted:
        publish("metadata", {"run_id": claim.run_id, "attempt": claim.attempt})
    run = parts(
        graph,
        graph_input,
        context,
        modes=wanted,
        config=config,
        on_call=on_call,
        interrupt_before=request.interrupt_before,
        interrupt_after=request.interrupt_after,
        durability=request.durability or "async",
    )
    async with aclosing(run):
        async for space, mode, chunk in run:
            if request.stream_subgraphs:
                publish("|".join((mode, *space)), chunk)
            elif not space or mode in ("custom", "messages"):
                publish(mode, chunk)


async def outcome(claim: RunClaim, graph: Graph) -> tuple[bool, dict[str, str]]:
    """Whether the thread waits for a person, and its state as table columns."""
    snapshot = await graph.aget_state(Place().of(claim.thread_id))
    return bool(snapshot.next), columns(snapshot)


def columns(snapshot: StateSnapshot) -> dict[str, str]:
    """A state as columns of the table of threads."""
    waiting = {task.id: task.interrupts for task in snapshot.tasks if task.interrupts}
    return {"values": encode(snapshot.values).decode(), "interrupts": encode(waiting).decode()}


def _config(claim: RunClaim, request: RunRequest) -> Any:
    asked = request.config.recursion_limit if request.config else None
    return {
        **request.place.of(claim.thread_id),
        "recursion_limit": min(asked or RECURSION_LIMIT, RECURSION_LIMIT),
        "tags": request.config.tags if request.config else [],
        "metadata": claim.metadata | {"run_id": claim.run_id, "run_attempt": claim.attempt},
    }


async def _graph_input(claim: RunClaim, graph: Graph, request: RunRequest, config: Any) -> Any:
    """The graph's input; None to continue from the checkpoint of another worker."""
    if claim.attempt > 1:
        latest = Place().of(claim.thread_id)
        snapshot = await graph.aget_state(latest)
        if (snapshot.metadata or {}).get("run_id") == claim.run_id:
            config |= latest
            return None
    if request.command is None:
        return request.input
    sent = request.command
    return Command(resume=sent.resume, update=sent.update, goto=sent.goto or ())
