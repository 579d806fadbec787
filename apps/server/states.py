"""Read, change and copy the states of a thread."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import InvalidUpdateError
from langgraph.types import StateSnapshot

from planweave import BadInput, PlanweaveError
from planweave.apps.server.assistants import method_of
from planweave.apps.server.engine import Engine
from planweave.apps.server.errors import Conflict, NotFound
from planweave.apps.server.execution import columns
from planweave.apps.server.people import Person
from planweave.apps.server.requests import Place
from planweave.apps.server.storage import storage_failed
from planweave.graphs.support.running import Graph
from planweave.memory import check_state
from planweave.texts import shorten

log = logging.getLogger(__name__)

_EMPTY: dict[str, Any] = {
    "values": {},
    "next": [],
    "tasks": [],
    "metadata": None,
    "created_at": None,
    "checkpoint": None,
    "parent_checkpoint": None,
    "interrupts": [],
    "checkpoint_id": None,
    "parent_checkpoint_id": None,
}


class States:
    """The states of one person's threads; threads of others are not found."""

    def __init__(self, engine: Engine, person: Person) -> None:
        self._engine = engine
        self._person = person

    async def get(self, thread_id: str, place: Place, *, subgraphs: bool = False) -> dict[str, Any]:
        """The latest state, or the one at a checkpoint."""
        graph = await self._graph(thread_id)
        found = _EMPTY
        if graph is not None:
            with _report_unreadable():
                snapshot = await graph.aget_state(place.of(thread_id), subgraphs=subgraphs)
            found = state_json(snapshot)
        if place.checkpoint_id and found["created_at"] is None:
            raise NotFound("There is no such checkpoint.")
        return found

    async def history(
        self,
        thread_id: str,
        place: Place,
        *,
        limit: int,
        before: str | None,
        metadata: Mapping[str, Any] | None,
    ) -> list[dict[str, Any]]:
        """The states of a thread, latest first."""
        graph = await self._graph(thread_id)
        if graph is None:
            return []
        earlier: RunnableConfig | None = (
            {"configurable": {"checkpoint_id": before}} if before else None
        )
        found = graph.aget_state_history(
            place.of(thread_id), filter=plain_filter(metadata), before=earlier, limit=limit
        )
        with _report_unreadable():
            return [state_json(snapshot) async for snapshot in found]

    async def change(
        self, thread_id: str, place: Place, values: Any, as_node: str | None
    ) -> dict[str, Any]:
        """Write a new state as if by a node; return its checkpoint."""
        thread = await self._engine.threads.get(self._person.owner, thread_id)
        if thread["status"] == "busy":
            raise Conflict("The thread is busy.", fix="Wait for its run, or cancel it.")
        graph = await self._graph(thread_id)
        if graph is None:
            raise BadInput(
                "The thread has no method yet.", fix="Create it with a graph_id, or run one."
            )
        for written in values if isinstance(values, list) else [values or {}]:
            check_state(written)
        try:
            changed = await graph.aupdate_state(place.of(thread_id), values, as_node=as_node)
        except PlanweaveError:
            raise
        except (InvalidUpdateError, ValueError, TypeError, KeyError) as error:
            raise BadInput(
                f"The state cannot be changed in this way: {shorten(str(error), 300)}"
            ) from None
        await self._save_latest(thread_id, graph)
        checkpoint = _checkpoint(changed) or {}
        named = checkpoint.get("checkpoint_id")
        return {"checkpoint": checkpoint, "configurable": checkpoint, "checkpoint_id": named}

    async def copy(self, thread_id: str) -> dict[str, Any]:
        """Copy a thread with all its states."""
        threads, owner = self._engine.threads, self._person.owner
        thread = await threads.get(owner, thread_id)
        copy = await threads.create(owner, None, thread["metadata"], may_exist=False)
        saver = self._engine.storage.saver
        await _copy_checkpoints(saver, thread_id, copy["thread_id"])
        if graph := await self._graph(copy["thread_id"]):
            await self._save_latest(copy["thread_id"], graph)
        return await threads.get(owner, copy["thread_id"])

    async def _save_latest(self, thread_id: str, graph: Graph) -> None:
        with _report_unreadable():
            latest = await graph.aget_state(Place().of(thread_id))
        status = "interrupted" if latest.next else "idle"
        await self._engine.threads.save_state(thread_id, columns(latest) | {"status": status})

    async def _graph(self, thread_id: str) -> Graph | None:
        """The graph of a thread; None before its first run."""
        thread = await self._engine.threads.get(self._person.owner, thread_id)
        name = thread["metadata"].get("graph_id")
        return self._engine.graph(method_of(str(name))) if name else None


@contextmanager
def _report_unreadable() -> Iterator[None]:
    """Raise ``Conflict`` if a state cannot be read, as after two commands wrote the same field."""
    try:
        yield
    except Exception as error:
        if storage_failed(error) or isinstance(error, PlanweaveError):
            raise
        log.warning("a state cannot be read: %s", str(error).partition("\n")[0])
        raise Conflict(
            "The state of the thread cannot be read.",
            fix="Start at an earlier checkpoint, or delete the thread.",
        ) from None


def state_json(snapshot: StateSnapshot) -> dict[str, Any]:
    """A state as JSON of the protocol."""
    checkpoint, parent = _checkpoint(snapshot.config), _checkpoint(snapshot.parent_config)
    if snapshot.created_at is None:
        return _EMPTY
    return {
        "values": snapshot.values,
        "next": snapshot.next,
        "tasks": [_task_json(task) for task in snapshot.tasks],
        "metadata": snapshot.metadata,
        "created_at": snapshot.created_at,
        "checkpoint": checkpoint,
        "parent_checkpoint": parent,
        "interrupts": snapshot.interrupts,
        "checkpoint_id": checkpoint["checkpoint_id"] if checkpoint else None,
        "parent_checkpoint_id": parent["checkpoint_id"] if parent else None,
    }


def plain_filter(sent: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Check that a filter has plain names and values, as the store puts names into queries."""
    for name, value in (sent or {}).items():
        is_plain = isinstance(value, (str, bool)) or (isinstance(value, int) and abs(value) < 2**63)
        if not (name.isidentifier() and name.isascii() and is_plain):
            raise BadInput(
                "A filter may only have plain names with strings, integers, true or false."
            )
    return dict(sent) if sent else None


def _task_json(task: Any) -> dict[str, Any]:
    inner = task.state
    return {
        "id": task.id,
        "name": task.name,
        "path": task.path,
        "error": None if task.error is None else str(task.error),
        "interrupts": task.interrupts,
        "checkpoint": _checkpoint(inner) if isinstance(inner, dict) else None,
        "state": state_json(inner) if isinstance(inner, StateSnapshot) else None,
        "result": task.result,
    }


def _checkpoint(config: Any) -> dict[str, Any] | None:
    if not config:
        return None
    names = ("thread_id", "checkpoint_ns", "checkpoint_id")
    return {name: config["configurable"].get(name, "") for name in names}


async def _copy_checkpoints(saver: BaseCheckpointSaver[Any], source: str, target: str) -> None:
    found = [one async for one in saver.alist({"configurable": {"thread_id": source}})]
    for one in reversed(found):
        space = one.config["configurable"].get("checkpoint_ns", "")
        parent = one.parent_config["configurable"]["checkpoint_id"] if one.parent_config else None
        before = Place(checkpoint_id=parent, checkpoint_ns=space).of(target)
        versions = one.checkpoint["channel_versions"]
        written = await saver.aput(before, one.checkpoint, one.metadata, versions)
        tasks = dict.fromkeys(task for task, _, _ in one.pending_writes or ())
        for task in tasks:
            writes = [(name, value) for of, name, value in one.pending_writes or () if of == task]
            await saver.aput_writes(written, writes, task)
