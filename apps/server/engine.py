"""The worker of one process: claims runs from the table, and executes them."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, get_type_hints
from uuid import uuid4

from langgraph.errors import EmptyInputError, GraphRecursionError, InvalidUpdateError
from sqlalchemy.exc import SQLAlchemyError

from planweave import BadInput, PlanweaveError
from planweave.apps.server import metrics, tracing
from planweave.apps.server.errors import NotFound, NothingWaits
from planweave.apps.server.execution import carry_out, outcome
from planweave.apps.server.feed import Feed
from planweave.apps.server.leased import Lease, LeaseLost, leased
from planweave.apps.server.people import Person
from planweave.apps.server.requests import (
    RunRequest,
    check_fields,
    check_nodes,
    context_for,
    order_of,
)
from planweave.apps.server.runs import MadeCall, RunClaim, RunOrder, Runs, RunStatus, SpentToday
from planweave.apps.server.settings import ServerSettings, UserLimits
from planweave.apps.server.storage import Storage, storage_failed
from planweave.apps.server.threads import Threads
from planweave.apps.server.wire import WireEvent, encode
from planweave.graphs import METHODS
from planweave.graphs.support.running import Graph
from planweave.graphs.support.running import graph as method_graph
from planweave.memory import Context, WorkingMemory
from planweave.texts import shorten
from planweave.tools.database import DatabaseMissing
from planweave.usage import Meter, Usage, metered

log = logging.getLogger(__name__)

_IDLE_SECONDS = 0.5  # how often an idle worker looks for runs from other processes
_WATCH_SECONDS = 0.2  # how often it looks for events of other processes
_SWEEP_SECONDS = 30.0
_MAX_CRASHES = 3  # a run that has crashed so many workers fails

_TIMED_OUT = {"error": "TimeoutError", "message": "The run took longer than the server allows."}

_DATABASES = frozenset({"database", "graph"})
_FIELDS = frozenset(WorkingMemory.__annotations__)

Reason = Literal["cancelled", "lost", "drained"]


@dataclass
class ActiveRun:
    """A run that this process executes."""

    claim: RunClaim
    task: asyncio.Task[None]
    meter: Meter = field(default_factory=Meter)
    booked: Usage = field(default_factory=Usage)
    calls: list[MadeCall] = field(default_factory=list)
    call_count: int = 0
    reason: Reason | None = None
    error: dict[str, str] | None = None
    has_started: bool = False
    is_ending: bool = False

    def stop(self, reason: Reason) -> None:
        """Stop the run, unless it ends already.

        A task is cancelled only after its first step: before that, it would not even end the run.
        """
        if self.reason is None and not self.is_ending:
            self.reason = reason
            if self.has_started:
                self.task.cancel()

    def add_call(self, call: Any) -> None:
        """Remember a call to a model until it is saved."""
        number = self.claim.first_number + self.call_count
        record = encode(call).decode()
        self.calls.append(MadeCall(self.claim.run_id, number, time.time(), record))
        self.call_count += 1

    def take_unbooked(self) -> SpentToday:
        """Return the usage since the last call of this method."""
        fresh, self.booked = self.meter.used - self.booked, self.meter.used
        return SpentToday(fresh.input_tokens + fresh.output_tokens, fresh.dollars)


class Engine:
    """Executes runs, and serves the routes."""

    def __init__(
        self, storage: Storage, settings: ServerSettings, limits: Callable[[str], UserLimits]
    ) -> None:
        self.storage = storage
        self.settings = settings
        self.worker = f"{socket.gethostname()[:20]}-{os.getpid()}-{uuid4().hex[:8]}"
        self.runs, self.threads = Runs(storage.database), Threads(storage.database)
        self.feed = Feed(self.runs, self.worker)
        self.draining = False  # claims no more runs
        self._limits = limits
        self._active: dict[str, ActiveRun] = {}
        self._graphs: dict[str, Graph] = {}
        self._wake = asyncio.Event()
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._lease = Lease(settings.lease_seconds)
        self._saver = leased(storage.saver, self._lease)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Execute runs until the block ends; then let active runs end, or give them back."""
        lease = self.settings.lease_seconds
        steps = (
            (self.feed.save, lambda: asyncio.sleep(0)),
            (self.feed.watch, lambda: asyncio.sleep(_WATCH_SECONDS)),
            (self._renew, lambda: asyncio.sleep(lease / 4)),
            (self._claim_runs, self._pause),
            (self._sweep, lambda: asyncio.sleep(_SWEEP_SECONDS)),
        )
        loops = [asyncio.create_task(_repeat_forever(*step)) for step in steps]
        try:
            yield
        finally:
            await self._drain()
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, *self._background_tasks, return_exceptions=True)

    def graph(self, name: str) -> Graph:
        """A method, compiled with this server's checkpoints and memory."""
        if name not in self._graphs:
            self._graphs[name] = method_graph(
                name, checkpointer=self._saver, store=self.storage.store
            )
        return self._graphs[name]

    async def submit(
        self, person: Person, thread_id: str | None, request: RunRequest, *, quiet: bool = False
    ) -> dict[str, Any]:
        """Queue a run; return it as JSON of the protocol."""
        order = await asyncio.to_thread(  # the first import of a method is slow
            order_of, person, request, stateless=thread_id is None, quiet=quiet
        )
        if request.nodes or request.input:
            known = (await asyncio.to_thread(METHODS.get, order.method)).builder
            check_nodes(request.nodes, known.nodes)
            check_fields(request.input or {}, get_type_hints(known.input_schema))
        if not order.begins and request.place.checkpoint_id is None:
            await self._check_thread(person, thread_id, order)
        run = await self.runs.create(person, thread_id, order)
        if order.strategy in ("interrupt", "rollback"):
            self._stop_earlier_runs(run)
        self._wake.set()
        return run

    async def _check_thread(self, person: Person, thread_id: str | None, order: RunOrder) -> None:
        """Check that the thread holds what the run begins with; one that is busy may soon."""
        thread: dict[str, Any] = {"status": "idle", "values": None}
        try:
            if thread_id is not None:
                thread = await self.threads.get(person.owner, thread_id)
        except NotFound:
            if order.if_missing == "reject":
                raise
        if thread["status"] == "idle" and "command" in order.payload:
            raise NothingWaits
        if thread["status"] != "busy" and not thread["values"]:
            raise BadInput(
                "The field input has no question.", fix="Send it as a message or as `question`."
            )

    def _stop_earlier_runs(self, run: dict[str, Any]) -> None:
        """Stop earlier runs of the same thread in this process; other processes see it later."""
        for work in [*self._active.values()]:
            same_thread = work.claim.thread_id == run["thread_id"]
            if same_thread and work.claim.run_id < run["run_id"]:
                work.stop("cancelled")

    async def cancel(self, person: Person, thread_id: str, run_id: str) -> None:
        """Cancel a run."""
        await self.runs.cancel(person.owner, thread_id, run_id)
        if work := self._active.get(run_id):
            work.stop("cancelled")

    async def follow(self, run: dict[str, Any], after: int = -1) -> AsyncIterator[WireEvent | None]:
        """The events of a run to its end; None after 15 s without an event."""
        run_id = run["run_id"]

        def alive() -> bool:
            return not self.draining or run_id in self._active

        async for event in self.feed.follow(run_id, after, alive):
            yield event

    def leave(self, person: Person, run: dict[str, Any]) -> None:
        """Cancel a run whose caller has disconnected, in the background."""

        async def end() -> None:
            with suppress(NotFound):  # it has ended already
                await self.cancel(person, run["thread_id"], run["run_id"])

        if not self.draining:
            task = asyncio.create_task(end())
            self._background_tasks.add(task)
            task.add_done_callback(self._background_tasks.discard)

    async def delete_thread(self, person: Person, thread_id: str) -> None:
        """Delete a thread with its checkpoints."""
        await self.threads.delete(person.owner, thread_id)
        await self.storage.saver.adelete_thread(thread_id)

    async def _claim_runs(self) -> None:
        """Claim waiting runs, as many as this process may execute."""
        self._wake.clear()
        room = self.settings.jobs - len(self._active)
        if self.draining or room <= 0:
            return
        lease, own = self.settings.lease_seconds, [*self._active]
        share = self.settings.share if self.settings.shared else None
        for claim in await self.runs.claim(self.worker, lease, room, own, share):
            self.feed.local.add(claim.run_id)
            task = asyncio.create_task(self._execute(claim))
            self._active[claim.run_id] = ActiveRun(claim, task)

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_IDLE_SECONDS):
                await self._wake.wait()

    async def _renew(self) -> None:
        """Renew the leases; stop cancelled runs, and runs that this worker has lost."""
        run_ids, asked_at = [*self._active], time.monotonic()
        held = await self.runs.renew(self.worker, run_ids, self.settings.lease_seconds)
        self._lease.extend(asked_at)
        for run_id, work in list(self._active.items()):
            if run_id not in run_ids:
                continue
            if run_id not in held:
                work.stop("lost")
            elif held[run_id]:
                work.stop("cancelled")
            await self._book(work)

    async def _sweep(self) -> None:
        for thread_id in await self.runs.sweep(self.settings.keep_seconds):
            await self.storage.saver.adelete_thread(thread_id)

    async def _book(self, work: ActiveRun) -> None:
        spent = work.take_unbooked()
        if spent.tokens or spent.dollars:
            await self.runs.book(work.claim, spent)
        await self._save_calls(work)

    async def _save_calls(self, work: ActiveRun) -> None:
        calls, work.calls = work.calls, []
        if calls:
            await self.runs.save_calls(calls)

    async def _execute(self, claim: RunClaim) -> None:
        """Execute a run, and save how it ended."""
        work = self._active[claim.run_id]
        work.has_started = True
        numbers = iter(range(claim.first_number, 2**63))

        def event(name: str, data: Any) -> WireEvent:
            return WireEvent(claim.run_id, next(numbers), name, encode(data).decode())

        def publish(name: str, data: Any) -> None:
            self.feed.publish(event(name, data))

        started = time.monotonic()
        try:
            with tracing.run_span(claim) as span:
                status = await self._attempt(work, publish, span)
            work.is_ending = True
            if status is not None:
                status = await self._finish(work, status, event)
                metrics.count_run(claim.method, status, time.monotonic() - started)
        except Exception:  # after its lease, another worker continues from the last checkpoint
            log.exception("run %s could not be ended", claim.run_id)
        finally:
            self.feed.local.discard(claim.run_id)
            self._active.pop(claim.run_id, None)
            self._wake.set()

    async def _attempt(
        self, work: ActiveRun, publish: Callable[[str, Any], None], span: Any
    ) -> RunStatus | None:
        """Run the graph; return the run's status, or None if another worker will continue it."""
        claim, limit = work.claim, asyncio.timeout(self.settings.run_seconds)

        def on_call(call: Any) -> None:
            work.add_call(call)
            metrics.count_call(claim.method, call)
            tracing.call_span(span, call)

        try:
            if work.reason is not None:  # stopped before it started
                raise asyncio.CancelledError
            if claim.crashes >= _MAX_CRASHES:
                raise TooManyCrashes("The run has crashed its worker too often.")
            work.meter.budget = await self.runs.share(claim)
            context = self._context(claim)
            if claim.method not in self._graphs:
                await asyncio.to_thread(METHODS.get, claim.method)  # the first import is slow
            async with limit:
                with metered(work.meter):
                    await carry_out(claim, self.graph(claim.method), context, publish, on_call)
            return "success"
        except asyncio.CancelledError:
            if work.reason == "cancelled":
                return "interrupted"
        except LeaseLost:
            work.reason = "lost"
        except Exception as error:  # any error ends the run
            work.error = _TIMED_OUT if limit.expired() else self._error_json(error, claim)
            publish("error", work.error)
            return "timeout" if limit.expired() else "error"
        await self._give_back(work)
        return None

    async def _give_back(self, work: ActiveRun) -> None:
        with suppress(SQLAlchemyError):
            await self._book(work)
            if work.reason == "lost":
                await self.runs.give_back_late(work.claim, self.worker)
            if work.reason == "drained":
                async with self.feed.ending(work.claim.run_id) as unsaved:
                    await self.runs.release(work.claim, self.worker, unsaved)

    async def _finish(
        self, work: ActiveRun, status: RunStatus, event: Callable[..., WireEvent]
    ) -> RunStatus:
        claim = work.claim
        state: dict[str, str] = {}
        try:
            waiting, state = await outcome(claim, self.graph(claim.method))
            if status == "success" and waiting:
                status = "interrupted"
        except Exception as error:  # a run ends even if its state cannot be read
            if storage_failed(error) and claim.crashes < _MAX_CRASHES:
                raise
            status, work.error = "error", work.error or self._error_json(error, claim)
        await self._save_calls(work)
        state["error"] = encode(work.error).decode() if work.error else ""
        last = event("end", None)
        async with self.feed.ending(claim.run_id) as unsaved:
            ended = await self.runs.finish(
                claim,
                self.worker,
                status=status,
                state=state,
                unsaved=[*unsaved, last],
                spent=work.take_unbooked(),
            )
        if ended:
            self.feed.notify(last)
        else:
            await self.runs.give_back_late(claim, self.worker)
        return status

    def _error_json(self, error: BaseException, claim: RunClaim) -> dict[str, str]:
        if isinstance(error, DatabaseMissing) and not self._names_its_database(claim):
            error = error.of_operator()
        if self.settings.shared and isinstance(error, PlanweaveError):
            error = error.without_address()
        return error_data(error, claim)

    def _context(self, claim: RunClaim) -> Context:
        person = Person(claim.person, self._limits(claim.person), shared=self.settings.shared)
        return context_for(person, RunRequest.model_validate(claim.payload).settings)

    def _names_its_database(self, claim: RunClaim) -> bool:
        """Whether the caller has named the database itself, not by a name of the operator's."""
        sent, context = RunRequest.model_validate(claim.payload).settings, self._context(claim)
        return any(sent.get(kind) == getattr(context, kind) for kind in {*sent} & _DATABASES)

    async def _drain(self) -> None:
        """Wait until active runs end, then give back the others."""
        self.draining = True
        tasks = [work.task for work in self._active.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=self.settings.drain_seconds)
        for work in list(self._active.values()):
            work.stop("drained")
        await asyncio.gather(*tasks, return_exceptions=True)


class TooManyCrashes(PlanweaveError):
    """A run that has crashed its worker too often to be tried again."""


def error_data(error: BaseException, claim: RunClaim) -> dict[str, str]:
    """An error as the caller sees it: in full if a person can fix it, otherwise its class."""
    error = _as_caller_error(error, has_command=bool(claim.payload.get("command")))
    name = BadInput.__name__ if isinstance(error, BadInput) else type(error).__name__
    if isinstance(error, PlanweaveError):
        return {"error": name, "message": str(error)}
    log.error("run %s of %s failed", claim.run_id, claim.method, exc_info=error)
    return {"error": name, "message": "The run failed; see the server's log."}


def _as_caller_error(error: BaseException, *, has_command: bool) -> BaseException:
    """Turn an error that the request caused into one that the caller can fix."""
    if isinstance(error, PlanweaveError):
        return error
    if isinstance(error, EmptyInputError):
        return BadInput("The run has no input.", fix="Send an input.")
    if isinstance(error, GraphRecursionError):
        return BadInput("The run takes more steps than its recursion_limit.", fix="Raise it.")
    if isinstance(error, KeyError) and error.args[:1] and error.args[0] in _FIELDS:
        return BadInput(
            f"The state of the thread has no {error.args[0]}.",
            fix="Write every field that the next node reads into the state.",
        )
    if has_command or isinstance(error, InvalidUpdateError):
        reason = shorten((str(error).splitlines() or [type(error).__name__])[0], 200)
        return BadInput(
            f"The run cannot continue from this state ({reason}).",
            fix="Start at another checkpoint, or in a new thread.",
        )
    return error


async def _repeat_forever(
    step: Callable[[], Awaitable[None]], pause: Callable[[], Awaitable[None]]
) -> None:
    """Repeat a step whatever error it raises: the worker needs all of its steps."""
    while True:
        try:
            await step()
        except (SQLAlchemyError, OSError) as error:
            log.warning("the database does not answer; trying again: %s", error)
            await asyncio.sleep(1)
        except Exception:
            log.exception("a step of the worker failed; trying again")
            await asyncio.sleep(1)
        await pause()
