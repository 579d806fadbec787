"""The table of runs: owner, worker, progress and usage of each run.

One worker at a time claims a run, as long as it renews its lease. It can write to a run only while
it holds the claim. So a worker that was silent for too long, but is alive, changes nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from langchain_core.utils.uuid import uuid7
from sqlalchemy import (
    Connection,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.engine import RowMapping
from sqlalchemy.exc import IntegrityError

from planweave.apps.server.database import Repository, transaction
from planweave.apps.server.errors import Conflict, NotFound, TooMuch
from planweave.apps.server.people import Person
from planweave.apps.server.tables import calls, events, ledger, now, reserved, runs, threads
from planweave.apps.server.threads import (
    add_thread,
    check_metadata,
    find_thread,
    lock_thread,
    remove_thread,
)
from planweave.apps.server.wire import WireEvent, decode, encode, iso
from planweave.redact import without_passwords
from planweave.usage import Budget

Strategy = Literal["reject", "enqueue", "interrupt", "rollback"]
RunStatus = Literal["pending", "running", "success", "error", "timeout", "interrupted"]

_ACTIVE = ("pending", "running")
_NUMBERS = 2**32  # event numbers of one attempt; those of the next one are larger
FIRST_NUMBER = _NUMBERS
"""Number of the first event of a run, in attempt 1."""
_EXTRA_TOKENS = 10_000  # for the call that exceeds the limit, and the one that answers
_EXTRA_DOLLARS = 0.05  # of the daily budget, for the same
_ADD_USAGE = text(
    "INSERT INTO planweave_ledger (owner, day, runs, tokens, dollars)"
    " VALUES (:owner, :day, :runs, :tokens, :dollars) ON CONFLICT (owner, day) DO UPDATE SET"
    " runs = planweave_ledger.runs + :runs, tokens = planweave_ledger.tokens + :tokens,"
    " dollars = planweave_ledger.dollars + :dollars"
)


@dataclass(frozen=True, kw_only=True)
class RunOrder:
    """A run to be queued."""

    method: str
    payload: Mapping[str, Any]  # the validated request
    metadata: Mapping[str, Any]
    begins: bool = True  # whatever its thread holds
    budget: Budget = field(default_factory=Budget)  # the limits in the context of the run
    strategy: Strategy = "enqueue"
    temporary: bool = False  # the thread is deleted after the run
    if_missing: Literal["create", "reject"] = "reject"


class RunClaim(NamedTuple):
    """A run that a worker has claimed."""

    run_id: str
    thread_id: str
    owner: str
    person: str
    method: str
    payload: dict[str, Any]
    metadata: dict[str, Any]
    attempt: int
    crashes: int

    @property
    def first_number(self) -> int:
        """Number of the first event of this attempt."""
        return self.attempt * _NUMBERS


class SpentToday(NamedTuple):
    """What an owner has used or reserved today."""

    tokens: int = 0
    dollars: float = 0.0


class MadeCall(NamedTuple):
    """A call to a model: its run, its number, the time when it ended, its record as JSON."""

    run_id: str
    number: int
    ended: float
    record: str


class Runs(Repository):
    """Reads and writes the table; each method is a transaction.

    A thread or run of another owner raises ``NotFound``, a busy thread or an active run
    ``Conflict``, a reached limit ``TooMuch``.
    """

    @transaction
    def create(
        self, connection: Connection, person: Person, thread_id: str | None, order: RunOrder
    ) -> dict[str, Any]:
        """Queue a run; return it as JSON of the protocol."""
        share = _admit(connection, person, order.budget)
        thread_id = _thread(connection, person.owner, thread_id, order)
        values = {
            "run_id": str(uuid7()),
            "thread_id": thread_id,
            "owner": person.owner,
            "person": person.name,
            "method": order.method,
            "metadata": check_metadata(order.metadata),
            "order": encode(order.payload).decode(),
            "strategy": order.strategy,
            "status": "pending",
            "attempt": 0,
            "crashes": 0,
            "cancel": False,
            "created_at": now(),
            "updated_at": now(),
        }
        made = connection.execute(insert(runs).values(values).returning(runs))
        if person.limits.has_daily_budget:
            own = {"run_id": values["run_id"], "tokens": share.tokens, "dollars": share.dollars}
            connection.execute(insert(reserved).values(own))
        return _run_json(made.mappings().one())

    @transaction
    def get(
        self, connection: Connection, owner: str, thread_id: str, run_id: str
    ) -> dict[str, Any]:
        """A run as JSON of the protocol."""
        return _run_json(_find_run(connection, owner, thread_id, run_id))

    @transaction
    def of_thread(
        self,
        connection: Connection,
        owner: str,
        thread_id: str,
        status: str | None,
        limit: int,
        offset: int,
    ) -> list[dict[str, Any]]:
        """The runs of a thread, latest first."""
        asked = _of_owner(select(runs), owner, thread_id).order_by(runs.c.run_id.desc())
        if status:
            asked = asked.where(runs.c.status == status)
        find_thread(connection, owner, thread_id)
        rows = connection.execute(asked.limit(limit).offset(offset))
        return [_run_json(row) for row in rows.mappings()]

    @transaction
    def save_calls(self, connection: Connection, made: Sequence[MadeCall]) -> None:
        """Save calls to models."""
        connection.execute(insert(calls), [call._asdict() for call in made])

    @transaction
    def calls(self, connection: Connection, owner: str, thread_id: str) -> list[dict[str, Any]]:
        """The calls to models in a thread, in the order of the replies.

        Each is a record with its ``run_id``, and ``ended`` in seconds since 1970.
        """
        find_thread(connection, owner, thread_id)
        asked = (
            select(calls)
            .join(runs, runs.c.run_id == calls.c.run_id)
            .where(runs.c.owner == owner, runs.c.thread_id == thread_id)
            .order_by(calls.c.ended, calls.c.number)
        )
        return [
            decode(row["record"]) | {"run_id": row["run_id"], "ended": row["ended"]}
            for row in connection.execute(asked).mappings()
        ]

    @transaction
    def cancel(self, connection: Connection, owner: str, thread_id: str, run_id: str) -> None:
        """Cancel a run; a waiting run, or one whose worker is silent, ends at once."""
        lock_thread(connection, owner, thread_id)
        active = and_(runs.c.run_id == run_id, runs.c.status.in_(_ACTIVE))
        asked = _of_owner(select(runs.c.run_id), owner, thread_id).where(active)
        if connection.execute(asked).first() is None:
            raise NotFound("There is no such active run.")
        _cancel(connection, thread_id, run_id)

    @transaction
    def delete(self, connection: Connection, owner: str, thread_id: str, run_id: str) -> None:
        """Delete a run that is over."""
        if _find_run(connection, owner, thread_id, run_id)["status"] in _ACTIVE:
            raise Conflict("The run is active.", fix="Cancel it first.")
        for table in (events, calls, reserved, runs):
            connection.execute(delete(table).where(table.c.run_id == run_id))

    async def claim(
        self,
        worker: str,
        lease: float,
        limit: int,
        own: Collection[str] = (),
        share: int | None = None,
    ) -> list[RunClaim]:
        """Claim waiting runs, or runs of silent workers: the oldest of each owner in turn.

        Fewer than ``limit`` mean that there are no more. ``own`` are the active runs of the worker,
        which it does not claim again after a silence. It runs up to ``share`` of one owner at once.
        """
        while True:
            try:
                return await self._claim(worker, lease, limit, own, share)
            except IntegrityError:  # another worker has claimed a run of the same thread
                continue

    @transaction
    def _claim(
        self,
        connection: Connection,
        worker: str,
        lease: float,
        limit: int,
        own: Collection[str],
        share: int | None,
    ) -> list[RunClaim]:
        other = runs.alias()
        waits = runs.c.status == "pending"
        stale = and_(runs.c.status == "running", runs.c.lease < now())
        earlier = and_(other.c.status == "pending", other.c.run_id < runs.c.run_id)
        held = exists().where(
            other.c.thread_id == runs.c.thread_id,
            other.c.run_id != runs.c.run_id,
            or_(other.c.status == "running", and_(waits, earlier)),
        )
        busy = (
            select(other.c.owner, func.count().label("number"))
            .where(other.c.run_id.in_(own), other.c.status == "running")
            .group_by(other.c.owner)
            .subquery()
        )
        turn = func.row_number().over(partition_by=runs.c.owner, order_by=runs.c.run_id)
        queue = (
            select(runs.c.run_id, (turn + func.coalesce(busy.c.number, 0)).label("turn"))
            .join(busy, busy.c.owner == runs.c.owner, isouter=True)
            .where(or_(waits, stale), ~held, runs.c.run_id.not_in(own))
            .subquery()
        )
        oldest = (
            select(runs.c.run_id)
            .join(queue, queue.c.run_id == runs.c.run_id)
            .where(or_(waits, stale), queue.c.turn <= (share or limit + len(own)))
            .order_by(queue.c.turn, runs.c.run_id)
            .limit(limit)
            .with_for_update(skip_locked=True, of=runs)
            .cte("oldest")
        )
        crashed = case((runs.c.status == "running", 1), else_=0)
        taken = (
            update(runs)
            .where(runs.c.run_id.in_(select(oldest.c.run_id)))
            .values(
                status="running",
                worker=worker,
                lease=now() + lease,
                attempt=runs.c.attempt + 1,
                crashes=runs.c.crashes + crashed,
                updated_at=now(),
            )
            .returning(runs)
        )
        rows = connection.execute(taken).mappings().all()
        return [_claim_of(row) for row in sorted(rows, key=lambda row: str(row["run_id"]))]

    @transaction
    def renew(
        self, connection: Connection, worker: str, names: Sequence[str], lease: float
    ) -> dict[str, bool]:
        """Renew the leases of a worker's runs; return the held ones, and whether to cancel each."""
        renewed = (
            update(runs)
            .where(runs.c.run_id.in_(names), runs.c.worker == worker, runs.c.status == "running")
            .values(lease=now() + lease)
            .returning(runs.c.run_id, runs.c.cancel)
        )
        return dict(connection.execute(renewed).all())

    @transaction
    def release(
        self, connection: Connection, claim: RunClaim, worker: str, unsaved: Sequence[WireEvent]
    ) -> None:
        """Give a run back with its unsaved events, so that another worker continues it."""
        given_back = _update_claimed(claim, worker).values(
            status="pending", worker=None, lease=None
        )
        if connection.execute(given_back).rowcount:
            _add_events(connection, unsaved)

    @transaction
    def give_back_late(self, connection: Connection, claim: RunClaim, worker: str) -> None:
        """Give back the run of a worker whose lease expired, but that has not crashed.

        If another worker has claimed the run, which counted as a crash, undo that count.
        """
        given_back = _update_claimed(claim, worker).values(
            status="pending", worker=None, lease=None
        )
        if connection.execute(given_back).rowcount:
            return
        crashed = and_(runs.c.run_id == claim.run_id, runs.c.crashes > claim.crashes)
        connection.execute(update(runs).where(crashed).values(crashes=runs.c.crashes - 1))

    @transaction
    def finish(
        self,
        connection: Connection,
        claim: RunClaim,
        worker: str,
        *,
        status: RunStatus,
        state: Mapping[str, Any],
        unsaved: Sequence[WireEvent],
        spent: SpentToday,
    ) -> bool:
        """End a run; return False if this worker does not hold it. Usage counts in any case.

        ``state`` has columns of the thread; the last of the ``unsaved`` events ends the stream.
        """
        _add_usage(connection, claim.owner, spent, run_id=claim.run_id)
        lock_thread(connection, claim.owner, claim.thread_id)  # as in a cancellation
        done = _update_claimed(claim, worker).values(
            status=status,
            order=encode(_without_secrets(claim.payload)).decode(),
            worker=None,
            lease=None,
            updated_at=now(),
        )
        if not connection.execute(done).rowcount:
            return False
        _add_events(connection, unsaved)
        left = _count_active(connection, runs.c.thread_id == claim.thread_id)
        ended: Any = {"success": "idle", "interrupted": "interrupted"}.get(status, "error")
        connection.execute(
            update(threads)
            .where(threads.c.thread_id == claim.thread_id)
            .values(
                status="busy" if left else ended, updated_at=now(), state_updated_at=now(), **state
            )
        )
        return True

    @transaction
    def add_events(self, connection: Connection, worker: str, batch: Sequence[WireEvent]) -> None:
        """Save events of runs that this worker holds; drop others.

        The runs are locked until the events are saved. Otherwise a worker that is suspended in
        between would write them after another worker has claimed its runs.
        """
        names = {event.run_id for event in batch}
        asked = select(runs.c.run_id, runs.c.attempt).where(
            runs.c.run_id.in_(names), runs.c.worker == worker
        )
        held = dict(connection.execute(asked.with_for_update(read=True)).all())
        kept = [event for event in batch if held.get(event.run_id) == event.number // _NUMBERS]
        _add_events(connection, kept)

    @transaction
    def events(
        self, connection: Connection, run_id: str, after: int
    ) -> tuple[list[WireEvent], bool]:
        """The saved events of a run after a number, and whether the run is over."""
        later = select(events).where(events.c.run_id == run_id, events.c.number > after)
        status = select(runs.c.status).where(runs.c.run_id == run_id)
        over = connection.execute(status).scalar_one_or_none() not in _ACTIVE
        rows = connection.execute(later.order_by(events.c.number))
        return [WireEvent(*row) for row in rows], over

    @transaction
    def progress(self, connection: Connection, names: Sequence[str]) -> dict[str, object]:
        """A value for each run that changes with every event."""
        status = select(runs.c.run_id, runs.c.status).where(runs.c.run_id.in_(names))
        last = (
            select(events.c.run_id, func.max(events.c.number))
            .where(events.c.run_id.in_(names))
            .group_by(events.c.run_id)
        )
        unsaved = dict(connection.execute(last).all())
        return {name: (how, unsaved.get(name)) for name, how in connection.execute(status)}

    @transaction
    def book(self, connection: Connection, claim: RunClaim, spent: SpentToday) -> None:
        """Add the usage of a run to that of its owner today."""
        _add_usage(connection, claim.owner, spent, run_id=claim.run_id)

    @transaction
    def spent(self, connection: Connection, owner: str) -> SpentToday:
        """The owner's usage today."""
        return _spent(connection, owner)

    @transaction
    def share(self, connection: Connection, claim: RunClaim) -> Budget:
        """The part of its owner's daily budget that a run may still use."""
        asked = select(reserved.c.tokens, reserved.c.dollars)
        row = connection.execute(asked.where(reserved.c.run_id == claim.run_id)).mappings().first()
        return Budget.model_validate(dict(row or {}))

    @transaction
    def counts(self, connection: Connection) -> dict[str, int]:
        """The number of waiting and of running runs in all processes."""
        asked = (
            select(runs.c.status, func.count())
            .where(runs.c.status.in_(_ACTIVE))
            .group_by(runs.c.status)
        )
        found: dict[str, int] = dict(connection.execute(asked).all())
        return {status: found.get(status, 0) for status in _ACTIVE}

    @transaction
    def sweep(self, connection: Connection, keep_seconds: float) -> list[str]:
        """Delete events of old runs, and temporary threads; return the ids of these threads."""
        old = and_(runs.c.status.not_in(_ACTIVE), runs.c.updated_at < now() - keep_seconds)
        connection.execute(
            delete(events).where(events.c.run_id.in_(select(runs.c.run_id).where(old)))
        )
        left = select(threads.c.thread_id).where(
            threads.c.temporary.is_(True),
            threads.c.status != "busy",
            threads.c.updated_at < now() - keep_seconds,
        )
        gone = list(connection.execute(left.limit(1000)).scalars())
        for thread_id in gone:
            remove_thread(connection, thread_id)
        return gone


def _admit(connection: Connection, person: Person, own: Budget) -> Budget:
    """Check the person's limits; return the share of the daily budget for a run.

    The entry in the ledger is a lock: it admits one request at a time.
    """
    owner, limits = person.owner, person.limits
    _add_usage(connection, owner, SpentToday(), asked=1)
    spent = _spent(connection, owner) if limits.has_daily_budget else SpentToday()
    if limits.max_tokens_a_day is not None and spent.tokens >= limits.max_tokens_a_day:
        raise TooMuch(f"Today's budget of {limits.max_tokens_a_day} tokens is used up.")
    if limits.max_dollars_a_day is not None and spent.dollars >= limits.max_dollars_a_day:
        raise TooMuch(f"Today's budget of {limits.max_dollars_a_day:g} dollars is used up.")
    if limits.max_runs is not None and _count_active(connection, runs.c.owner == owner) >= (
        limits.max_runs
    ):
        raise TooMuch(
            f"You have {limits.max_runs} waiting or running runs, and may have no more at once.",
            fix="Wait until one has ended, or cancel one.",
        )
    return _share(connection, person, own, spent) if limits.has_daily_budget else Budget()


def _share(connection: Connection, person: Person, own: Budget, spent: SpentToday) -> Budget:
    """The part of the daily budget that a run reserves: its own limits, or all that is left.

    A run may exceed its own limits by the active call and the answer, so these are added.
    """
    limits, held = person.limits, _reserved(connection, person.owner)
    share: dict[str, float] = {}
    if (limit := limits.max_tokens_a_day) is not None:
        left = limit - spent.tokens - held.tokens
        share["tokens"] = left if own.tokens is None else min(left, own.tokens + _EXTRA_TOKENS)
    if (dollars := limits.max_dollars_a_day) is not None:
        rest = dollars - spent.dollars - held.dollars
        room = dollars * _EXTRA_DOLLARS
        share["dollars"] = rest if own.dollars is None else min(rest, own.dollars + room)
    for kind, value in share.items():
        if value <= 0:
            raise TooMuch(
                f"Active runs have reserved the rest of today's budget of {kind}.",
                fix=f"Wait for them, or give each run its own limit: max_{kind}.",
            )
    return Budget.model_validate(share)


def _reserved(connection: Connection, owner: str) -> SpentToday:
    """What the owner's active runs may still use."""
    asked = (
        select(func.coalesce(func.sum(reserved.c.tokens), 0), func.sum(reserved.c.dollars))
        .join(runs, runs.c.run_id == reserved.c.run_id)
        .where(runs.c.owner == owner, runs.c.status.in_(_ACTIVE))
    )
    tokens, dollars = connection.execute(asked).one()
    return SpentToday(int(tokens), dollars or 0.0)


def _thread(connection: Connection, owner: str, thread_id: str | None, order: RunOrder) -> str:
    """Find or make the thread of a run, apply the strategy, and mark the thread as busy."""
    notes = {"graph_id": order.method}
    if thread_id is None:
        temporary = order.temporary
        return add_thread(connection, owner, None, notes, status="busy", temporary=temporary)
    lock_thread(connection, owner, thread_id)
    try:
        row = find_thread(connection, owner, thread_id)
        notes = row["metadata"] | notes
    except NotFound:
        if order.if_missing == "reject":
            raise
        _add_missing(connection, owner, thread_id, notes)
    _apply_strategy(connection, thread_id, order.strategy)
    busy = update(threads).where(threads.c.thread_id == thread_id)
    connection.execute(busy.values(status="busy", metadata=notes, error=None))
    return thread_id


def _add_missing(
    connection: Connection, owner: str, thread_id: str, notes: Mapping[str, Any]
) -> None:
    try:
        add_thread(connection, owner, thread_id, notes)
    except IntegrityError:  # it belongs to another owner
        raise NotFound(f"Thread with ID {thread_id} not found.") from None


def _apply_strategy(connection: Connection, thread_id: str, strategy: Strategy) -> None:
    """Refuse the new run, or cancel the runs of a busy thread, by the strategy."""
    active = and_(runs.c.thread_id == thread_id, runs.c.status.in_(_ACTIVE))
    busy = connection.execute(select(runs.c.run_id).where(active)).scalars().all()
    if busy and strategy == "reject":
        raise Conflict("The thread is busy.", fix="Wait for its run, or enqueue this one.")
    if strategy in ("interrupt", "rollback"):
        for run_id in busy:
            _cancel(connection, thread_id, run_id)


def _cancel(connection: Connection, thread_id: str, run_id: str) -> None:
    silent = and_(runs.c.status == "running", runs.c.lease < now())  # its worker is silent
    waiting = update(runs).where(runs.c.run_id == run_id, or_(runs.c.status == "pending", silent))
    ended = connection.execute(waiting.values(status="interrupted", updated_at=now()))
    if not ended.rowcount:
        connection.execute(update(runs).where(runs.c.run_id == run_id).values(cancel=True))
    elif not _count_active(connection, runs.c.thread_id == thread_id):
        idle = update(threads).where(threads.c.thread_id == thread_id)
        connection.execute(idle.values(status="interrupted"))


def _find_run(connection: Connection, owner: str, thread_id: str, run_id: str) -> RowMapping:
    asked = _of_owner(select(runs), owner, thread_id).where(runs.c.run_id == run_id)
    row = connection.execute(asked).mappings().first()
    if row is None:
        raise NotFound(f"Run with ID {run_id} not found.")
    return row


def _claim_of(row: RowMapping) -> RunClaim:
    names = ("run_id", "thread_id", "owner", "person", "method", "metadata", "attempt", "crashes")
    return RunClaim(**{name: row[name] for name in names}, payload=decode(row["order"]))


def _add_events(connection: Connection, unsaved: Sequence[WireEvent]) -> None:
    if unsaved:
        connection.execute(insert(events), [event._asdict() for event in unsaved])


def _add_usage(
    connection: Connection, owner: str, spent: SpentToday, *, asked: int = 0, run_id: str = ""
) -> None:
    """Add to the owner's usage today, and subtract it from what the run has reserved."""
    if not (asked or spent.tokens or spent.dollars):
        return
    entry = {"owner": owner, "day": _today(), "runs": asked, **spent._asdict()}
    connection.execute(_ADD_USAGE, entry)
    if run_id:
        left = {name: reserved.c[name] - value for name, value in spent._asdict().items()}
        rest = {name: case((value > 0, value), else_=0) for name, value in left.items()}
        null = {name: case((reserved.c[name].is_(None), None), else_=rest[name]) for name in rest}
        connection.execute(update(reserved).where(reserved.c.run_id == run_id).values(null))


def _count_active(connection: Connection, condition: Any) -> int:
    asked = select(func.count()).select_from(runs).where(condition, runs.c.status.in_(_ACTIVE))
    return connection.execute(asked).scalar_one()


def _spent(connection: Connection, owner: str) -> SpentToday:
    asked = select(ledger.c.tokens, ledger.c.dollars).where(
        ledger.c.owner == owner, ledger.c.day == _today()
    )
    row = connection.execute(asked).first()
    return SpentToday(*row) if row else SpentToday()


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _of_owner(asked: Any, owner: str, thread_id: str) -> Any:
    return asked.where(runs.c.owner == owner, runs.c.thread_id == thread_id)


def _update_claimed(claim: RunClaim, worker: str) -> Any:
    return update(runs).where(
        runs.c.run_id == claim.run_id,
        runs.c.worker == worker,
        runs.c.attempt == claim.attempt,
        runs.c.status == "running",
    )


def _run_json(row: RowMapping) -> dict[str, Any]:
    return {
        "run_id": row["run_id"],
        "thread_id": row["thread_id"],
        "assistant_id": row["method"],
        "created_at": iso(row["created_at"]),
        "updated_at": iso(row["updated_at"]),
        "metadata": row["metadata"],
        "status": row["status"],
        "kwargs": _without_secrets(decode(row["order"])),
        "multitask_strategy": row["strategy"],
    }


def _without_secrets(part: Any) -> Any:
    """A request without the passwords in its URLs."""
    match part:
        case str():
            return without_passwords(part)
        case dict():
            return {name: _without_secrets(value) for name, value in part.items()}
        case list():
            return [_without_secrets(value) for value in part]
    return part
