"""The worker of one process: takes runs from the table, and carries them out."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from langgraph.errors import EmptyInputError, GraphRecursionError, InvalidUpdateError
from sqlalchemy.exc import SQLAlchemyError

from planweave import BadInput, PlanweaveError
from planweave.apps.server import metrics, tracing
from planweave.apps.server.errors import NotFound
from planweave.apps.server.execution import carry_out, outcome
from planweave.apps.server.feed import Feed
from planweave.apps.server.leased import Lease, LeaseLost, leased
from planweave.apps.server.people import Person
from planweave.apps.server.requests import RunRequest, admitted, check_nodes, order_of
from planweave.apps.server.runs import MadeCall, RunClaim, Runs, RunStatus, SpentToday
from planweave.apps.server.settings import ServerSettings, UserLimits
from planweave.apps.server.storage import Storage, storage_failed
from planweave.apps.server.threads import Threads
from planweave.apps.server.wire import WireEvent, encode
from planweave.graphs import METHODS
from planweave.graphs.support.running import Graph
from planweave.graphs.support.running import graph as method_graph
from planweave.memory import Context, WorkingMemory
from planweave.texts import shorten
from planweave.usage import Meter, Usage, metered

log = logging.getLogger(__name__)

_IDLE_SECONDS = 0.5  # how often an idle worker looks for runs that came to other processes
_WATCH_SECONDS = 0.2  # how often it looks whether runs of other processes have said something
_SWEEP_SECONDS = 30.0
_CRASHES = 3  # a run that takes its worker down so often is given up

_LATE = {"error": "TimeoutError", "message": "The run took longer than the server allows."}

_FIELDS = frozenset(WorkingMemory.__annotations__)

Reason = Literal["cancelled", "lost", "drained"]


@dataclass
class RunUnderWay:
    """A run that is being carried out here."""

    claim: RunClaim
    task: asyncio.Task[None]
    meter: Meter = field(default_factory=Meter)
    booked: Usage = field(default_factory=Usage)
    calls: list[MadeCall] = field(default_factory=list)
    made: int = 0
    reason: Reason | None = None
    error: dict[str, str] | None = None
    begun: bool = False
    ending: bool = False

    def stop(self, reason: Reason) -> None:
        """End it, unless it ends already.

        A task that is cancelled before its first step would do nothing, not even end the run.
        """
        if self.reason is None and not self.ending:
            self.reason = reason
            if self.begun:
                self.task.cancel()

    def called(self, call: Any) -> None:
        """Note a call of a model, until it is kept."""
        number = self.claim.first_number + self.made
        record = encode(call).decode()
        self.calls.append(MadeCall(self.claim.run_id, number, time.time(), record))
        self.made += 1

    def unbooked(self) -> SpentToday:
        """What has been used since the last time that this was asked."""
        fresh, self.booked = self.meter.used - self.booked, self.meter.used
        return SpentToday(fresh.input_tokens + fresh.output_tokens, fresh.dollars)


class Engine:
    """Carries out runs, and knows all that routes need to know of them."""

    def __init__(
        self, storage: Storage, settings: ServerSettings, limits: Callable[[str], UserLimits]
    ) -> None:
        self.storage = storage
        self.settings = settings
        self.worker = f"{socket.gethostname()[:20]}-{os.getpid()}-{uuid4().hex[:8]}"
        self.runs, self.threads = Runs(storage.database), Threads(storage.database)
        self.feed = Feed(self.runs, self.worker)
        self.draining = False  # no new runs are taken any more
        self._limits = limits
        self._works: dict[str, RunUnderWay] = {}
        self._graphs: dict[str, Graph] = {}
        self._wake = asyncio.Event()
        self._asides: set[asyncio.Task[None]] = set()
        self._lease = Lease(settings.lease_seconds)
        self._saver = leased(storage.saver, self._lease)

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Take and carry out runs until the block ends; then let those at work end or go."""
        lease = self.settings.lease_seconds
        steps = (
            (self.feed.keep, lambda: asyncio.sleep(0)),
            (self.feed.watch, lambda: asyncio.sleep(_WATCH_SECONDS)),
            (self._renew, lambda: asyncio.sleep(lease / 4)),
            (self._take, self._pause),
            (self._sweep, lambda: asyncio.sleep(_SWEEP_SECONDS)),
        )
        loops = [asyncio.create_task(_again_and_again(*step)) for step in steps]
        try:
            yield
        finally:
            await self._drain()
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, *self._asides, return_exceptions=True)

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
        """Put a run into the queue; returns it as the protocol shows it."""
        order = order_of(person, request, stateless=thread_id is None, quiet=quiet)
        if request.nodes:
            known = await asyncio.to_thread(METHODS.get, order.method)
            check_nodes(request.nodes, known.builder.nodes)
        run = await self.runs.create(person, thread_id, order)
        if order.strategy in ("interrupt", "rollback"):
            self._stop_before(run)
        self._wake.set()
        return run

    def _stop_before(self, run: dict[str, Any]) -> None:
        """End the earlier runs of a run's thread that are carried out here; others see it later."""
        for work in [*self._works.values()]:
            same = work.claim.thread_id == run["thread_id"]
            if same and work.claim.run_id < run["run_id"]:
                work.stop("cancelled")

    async def cancel(self, person: Person, thread_id: str, run_id: str) -> None:
        """Ask for the end of a run."""
        await self.runs.cancel(person.owner, thread_id, run_id)
        if work := self._works.get(run_id):
            work.stop("cancelled")

    async def follow(self, run: dict[str, Any], after: int = -1) -> AsyncIterator[WireEvent | None]:
        """The events of a run to its end; None when it was quiet for a while."""
        run_id = run["run_id"]

        def alive() -> bool:
            return not self.draining or run_id in self._works

        async for event in self.feed.follow(run_id, after, alive):
            yield event

    def leave(self, person: Person, run: dict[str, Any]) -> None:
        """End a run whose caller has gone; the request for it is over before that is done."""

        async def end() -> None:
            with suppress(NotFound):  # it has ended by itself
                await self.cancel(person, run["thread_id"], run["run_id"])

        if not self.draining:
            task = asyncio.create_task(end())
            self._asides.add(task)
            task.add_done_callback(self._asides.discard)

    async def forget(self, person: Person, thread_id: str) -> None:
        """Take a thread away with its checkpoints."""
        await self.threads.delete(person.owner, thread_id)
        await self.storage.saver.adelete_thread(thread_id)

    async def _take(self) -> None:
        """Claim as many runs as there are and have room."""
        self._wake.clear()
        room = self.settings.jobs - len(self._works)
        if self.draining or room <= 0:
            return
        lease, own = self.settings.lease_seconds, [*self._works]
        share = self.settings.share if self.settings.shared else None
        for claim in await self.runs.claim(self.worker, lease, room, own, share):
            self.feed.local.add(claim.run_id)
            task = asyncio.create_task(self._carry(claim))
            self._works[claim.run_id] = RunUnderWay(claim, task)

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_IDLE_SECONDS):
                await self._wake.wait()

    async def _renew(self) -> None:
        """Renew the leases; stop what is to end, and what is ours no more."""
        before, asked_at = [*self._works], time.monotonic()
        held = await self.runs.renew(self.worker, before, self.settings.lease_seconds)
        self._lease.renewed(asked_at)
        for run_id, work in list(self._works.items()):
            if run_id not in before:
                continue
            if run_id not in held:
                work.stop("lost")
            elif held[run_id]:
                work.stop("cancelled")
            await self._book(work)

    async def _sweep(self) -> None:
        for thread_id in await self.runs.sweep(self.settings.keep_seconds):
            await self.storage.saver.adelete_thread(thread_id)

    async def _book(self, work: RunUnderWay) -> None:
        spent = work.unbooked()
        if spent.tokens or spent.dollars:
            await self.runs.book(work.claim, spent)
        await self._keep_calls(work)

    async def _keep_calls(self, work: RunUnderWay) -> None:
        made, work.calls = work.calls, []
        if made:
            await self.runs.keep_calls(made)

    async def _carry(self, claim: RunClaim) -> None:
        """Carry out a run and write down how it ended."""
        work = self._works[claim.run_id]
        work.begun = True
        numbers = iter(range(claim.first_number, 2**63))

        def event(name: str, data: Any) -> WireEvent:
            return WireEvent(claim.run_id, next(numbers), name, encode(data).decode())

        def say(name: str, data: Any) -> None:
            self.feed.publish(event(name, data))

        started = time.monotonic()
        try:
            with tracing.run_span(claim) as span:
                status = await self._attempt(work, say, span)
            work.ending = True
            if status is not None:
                status = await self._finish(work, status, event)
                metrics.finished(claim.method, status, time.monotonic() - started)
        except Exception:  # its lease runs out, and a worker ends it from its last checkpoint
            log.exception("run %s could not be ended", claim.run_id)
        finally:
            self.feed.local.discard(claim.run_id)
            self._works.pop(claim.run_id, None)
            self._wake.set()

    async def _attempt(
        self, work: RunUnderWay, say: Callable[[str, Any], None], span: Any
    ) -> RunStatus | None:
        """Run the graph; how the run ended, or None if it goes on elsewhere."""
        claim, limit = work.claim, asyncio.timeout(self.settings.run_seconds)

        def called(call: Any) -> None:
            work.called(call)
            metrics.called(claim.method, call)
            tracing.call_span(span, call)

        try:
            if work.reason is not None:  # stopped before it began
                raise asyncio.CancelledError
            if claim.crashes >= _CRASHES:
                raise GivenUp("The run has ended its worker again and again, and is given up.")
            work.meter.budget = await self.runs.share(claim)
            context = self._context(claim)
            if claim.method not in self._graphs:
                await asyncio.to_thread(METHODS.get, claim.method)  # its first import takes a while
            async with limit:
                with metered(work.meter):
                    await carry_out(claim, self.graph(claim.method), context, say, called)
            return "success"
        except asyncio.CancelledError:
            if work.reason == "cancelled":
                return "interrupted"
        except LeaseLost:
            work.reason = "lost"
        except Exception as error:  # whatever it is, the run ends with it
            work.error = _LATE if limit.expired() else self._told(error, claim)
            say("error", work.error)
            return "timeout" if limit.expired() else "error"
        await self._let_go(work)
        return None

    async def _let_go(self, work: RunUnderWay) -> None:
        with suppress(SQLAlchemyError):
            await self._book(work)
            if work.reason == "lost":
                await self.runs.alive(work.claim, self.worker)
            if work.reason == "drained":
                async with self.feed.ending(work.claim.run_id) as unsaved:
                    await self.runs.release(work.claim, self.worker, unsaved)

    async def _finish(
        self, work: RunUnderWay, status: RunStatus, event: Callable[..., WireEvent]
    ) -> RunStatus:
        claim = work.claim
        state: dict[str, str] = {}
        try:
            waiting, state = await outcome(claim, self.graph(claim.method))
            if status == "success" and waiting:
                status = "interrupted"
        except Exception as error:  # a run ends, whether or not its state can be read
            if storage_failed(error) and claim.crashes < _CRASHES:
                raise
            status, work.error = "error", work.error or self._told(error, claim)
        await self._keep_calls(work)
        state["error"] = encode(work.error).decode() if work.error else ""
        last = event("end", None)
        async with self.feed.ending(claim.run_id) as unsaved:
            ended = await self.runs.finish(
                claim,
                self.worker,
                status=status,
                state=state,
                unsaved=[*unsaved, last],
                spent=work.unbooked(),
            )
        if ended:
            self.feed.hand_out(last)
        else:
            await self.runs.alive(claim, self.worker)
        return status

    def _told(self, error: BaseException, claim: RunClaim) -> dict[str, str]:
        if self.settings.shared and isinstance(error, PlanweaveError):
            error = error.without_address()
        return error_data(error, claim)

    def _context(self, claim: RunClaim) -> Context:
        person = Person(claim.person, self._limits(claim.person), shared=self.settings.shared)
        return admitted(person, RunRequest.model_validate(claim.payload).settings)

    async def _drain(self) -> None:
        """Let runs end for a while, then give back those that are left."""
        self.draining = True
        tasks = [work.task for work in self._works.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=self.settings.drain_seconds)
        for work in list(self._works.values()):
            work.stop("drained")
        await asyncio.gather(*tasks, return_exceptions=True)


class GivenUp(PlanweaveError):
    """A run that is not tried again."""


def error_data(error: BaseException, claim: RunClaim) -> dict[str, str]:
    """An error as the caller sees it: what a person can fix in full, the rest by its kind."""
    error = _of_the_caller(error, steered=bool(claim.payload.get("command")))
    name = BadInput.__name__ if isinstance(error, BadInput) else type(error).__name__
    if isinstance(error, PlanweaveError):
        return {"error": name, "message": str(error)}
    log.error("run %s of %s failed", claim.run_id, claim.method, exc_info=error)
    return {"error": name, "message": "The run failed; see the server's log."}


def _of_the_caller(error: BaseException, *, steered: bool) -> BaseException:
    """The error as one that the caller can fix, if it comes of what was sent."""
    if isinstance(error, PlanweaveError):
        return error
    if isinstance(error, EmptyInputError):
        return BadInput("There is nothing to go on with.", fix="Send an input.")
    if isinstance(error, GraphRecursionError):
        return BadInput("The run takes more steps than its recursion_limit.", fix="Raise it.")
    if isinstance(error, KeyError) and error.args[:1] and error.args[0] in _FIELDS:
        return BadInput(
            f"The state of the thread has no {error.args[0]}.",
            fix="A state that was written by hand needs every field that the next node reads.",
        )
    if steered or isinstance(error, InvalidUpdateError):
        reason = shorten((str(error).splitlines() or [type(error).__name__])[0], 200)
        return BadInput(
            f"The run cannot go on from the state that it was given ({reason}).",
            fix="Begin at another checkpoint, or in a new thread.",
        )
    return error


async def _again_and_again(
    step: Callable[[], Awaitable[None]], pause: Callable[[], Awaitable[None]]
) -> None:
    """Do a step for ever, whatever goes wrong: without it the worker would be of no use."""
    while True:
        try:
            await step()
        except (SQLAlchemyError, OSError) as error:
            log.warning("the database does not answer and is asked again: %s", error)
            await asyncio.sleep(1)
        except Exception:
            log.exception("a step of the worker failed and is tried again")
            await asyncio.sleep(1)
        await pause()
