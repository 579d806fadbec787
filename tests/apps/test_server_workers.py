"""Several processes on one table of runs: one is killed, one is told to stop, one goes silent."""

import asyncio
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from offers import DECISION, FINISH, PLAN, QUERY, SCRIPT, scripted
from openai_server import Script, serving
from serve import Served, ready, serving_planweave, start, stop
from servers import Server
from sqlalchemy import Select, create_engine, event, func, select, text
from sqlalchemy.util import await_only
from waiting import until

from planweave.apps.server.people import Person
from planweave.apps.server.runs import RunOrder, Runs
from planweave.apps.server.settings import UserLimits
from planweave.apps.server.storage import open_storage
from planweave.apps.server.tables import events as events_table
from planweave.apps.server.tables import runs as runs_table
from planweave.apps.server.tables import sqlite_files
from planweave.apps.server.wire import WireEvent

pytestmark = pytest.mark.server

LEASE = {"PLANWEAVE_SERVE_LEASE_SECONDS": "4", "PLANWEAVE_SERVE_DRAIN_SECONDS": "5"}
CALLS = 4  # of a model in a whole run
SLOW = [*scripted(PLAN, QUERY), *scripted(FINISH, delay=3600), *scripted(FINISH, DECISION)]
"""The third call hangs; whoever takes the run up asks for it once more, and gets the fourth."""


@pytest.fixture
def postgresql_url(postgresql_server: Server) -> str:
    """The URL of an empty database."""
    return postgresql_server.new_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> dict[str, str]:
    """Where the servers of a test keep their runs."""
    if request.param == "sqlite":
        return LEASE
    return LEASE | {"PLANWEAVE_SERVE_URL": request.getfixturevalue("postgresql_url")}


@contextmanager
def two_servers(folder: Path, place: dict[str, str]) -> Iterator[tuple[Served, Served]]:
    pair = start(folder, **place), start(folder, **place)
    try:
        yield ready(pair[0]), ready(pair[1])
    finally:
        for server in pair:
            stop(server)


def kept(asked: Select[Any], folder: Path, place: dict[str, str]) -> Any:
    """What the servers keep in their tables."""
    url = place.get("PLANWEAVE_SERVE_URL", f"sqlite:///{sqlite_file(folder)}")
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        found = connection.execute(asked).scalar_one()
    engine.dispose()
    return found


def sqlite_file(folder: Path) -> Path:
    return folder / "state" / "serve" / "serve.sqlite"


def worker_of(run: str, folder: Path, place: dict[str, str]) -> int:
    """The process that carries out a run."""
    asked = select(runs_table.c.worker).where(runs_table.c.run_id == run)
    return int(kept(asked, folder, place).split("-")[-2])


async def waiting_run(
    server: Served, model: Script, folder: Path, place: dict[str, str]
) -> tuple[str, str]:
    """Start a run and wait until it hangs on its third call, and all before that is kept."""
    async with get_client(url=server.url, api_key=None) as client:
        thread = (await client.threads.create())["thread_id"]
        run = await client.runs.create(
            thread,
            "planrag",
            input={"question": "Which offer is cheapest?"},
            context={"model": model.name, "database": str(folder / "offers.sql")},
            stream_mode=["updates"],
        )
        await until(lambda: len(model.requests) == 3)
        told = events_table.c.run_id == run["run_id"], events_table.c.data.contains('"tools"')
        said = select(func.count()).select_from(events_table).where(*told)
        await until(lambda: kept(said, folder, place))
        async with asyncio.timeout(120):
            state: Any = {"values": {}, "next": []}
            while not state["values"].get("facts") or state["next"] != ["selector"]:
                state = await client.threads.get_state(thread)
        return thread, run["run_id"]


async def followed(
    server: Served, thread: str, run: str, last: str = "", heard: list[Any] | None = None
) -> list[Any]:
    """The events of a run, from another process than the one that carries it out."""
    heard = [] if heard is None else heard
    async with get_client(url=server.url, api_key=None) as client, asyncio.timeout(120):
        async for part in client.runs.join_stream(thread, run, last_event_id=last or None):
            heard.append(part)
    return heard


def silence(server: Served, folder: Path) -> None:
    """Stop a process while it holds no lock of an SQLite file: nobody else could write there."""
    for _ in range(1000):
        server.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.process.pid, os.WSTOPPED)
        if not any(map(is_locked, sqlite_files(str(sqlite_file(folder))))):
            return
        server.process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    pytest.fail("it always writes")


def is_locked(file: Path) -> bool:
    if not file.is_file():
        return False
    with closing(sqlite3.connect(file, timeout=0)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
    return False


def nodes(parts: list[Any]) -> list[str]:
    return [name for part in parts if part.event == "updates" for name in part.data]


async def test_a_worker_that_is_silent_killed_or_stopped(
    tmp_path: Path, place: dict[str, str]
) -> None:
    """SQLite has its killed one in ``test_worker_processes_share_the_work``."""
    (tmp_path / "offers.sql").write_text(SCRIPT)
    other = _killed if "PLANWEAVE_SERVE_URL" in place else _stopped
    with two_servers(tmp_path, place) as (first, second):
        for end in (_silent, other):
            with serving(*SLOW) as model:
                thread, run = await waiting_run(first, model, tmp_path, place)
                works = worker_of(run, tmp_path, place) == first.process.pid
                pair = (first, second) if works else (second, first)
                await end(thread, run, model, tmp_path, *pair)


async def _silent(
    thread: str, run: str, model: Script, folder: Path, first: Served, second: Served
) -> None:
    """A worker that was stopped and wakes up late changes nothing any more."""
    silence(first, folder)
    try:
        parts = await followed(second, thread, run)
    finally:
        first.process.send_signal(signal.SIGCONT)
    asked = len(model.requests)
    await asyncio.sleep(1.5)
    async with get_client(url=second.url, api_key=None) as client:
        history: Any = await client.threads.get_history(thread, limit=50)
        ended = await client.runs.get(thread, run)
    assert [part.id for part in await followed(first, thread, run)] == [part.id for part in parts]
    assert (ended["status"], asked) == ("success", len(model.requests))
    written = [state["metadata"]["run_attempt"] for state in reversed(history)]
    assert written == sorted(written)
    assert set(written) == {1, 2}


async def _killed(
    thread: str, run: str, model: Script, _: Path, first: Served, second: Served
) -> None:
    """The run of a killed worker is taken up by another, once, from its last checkpoint."""
    parts: list[Any] = []
    listening = asyncio.create_task(followed(second, thread, run, heard=parts))
    await until(lambda: parts)
    first.process.send_signal(signal.SIGKILL)
    await listening
    async with get_client(url=second.url, api_key=None) as client:
        state: Any = await client.threads.get_state(thread)
        ended = await client.runs.get(thread, run)
    late = await followed(second, thread, run, last=parts[2].id)
    assert ended["status"] == "success"
    assert state["values"]["answer"]["decision"] == "Birch"
    assert [part.data["attempt"] for part in parts if part.event == "metadata"] == [1, 2]
    visited = nodes(parts)
    assert visited.count("selector") == 2
    assert len(visited) == len(set(visited)) + 1  # every other node once
    assert len(model.requests) == CALLS + 1  # but for the call that hung, none is made twice
    assert [part.id for part in late] == [part.id for part in parts[3:]]


async def _stopped(
    thread: str, run: str, model: Script, _: Path, first: Served, second: Served
) -> None:
    """A server that stops gives back what takes too long, and waits for what ends soon."""
    model.answers = [*scripted(FINISH, delay=2), *scripted(DECISION)]
    stopping = asyncio.create_task(asyncio.to_thread(stop, first))
    listening = asyncio.create_task(followed(second, thread, run))
    await until(lambda: len(model.requests) >= CALLS)
    await asyncio.to_thread(stop, second)
    parts = await listening
    await stopping
    assert first.process.returncode != -signal.SIGKILL  # it left the call that hangs
    assert nodes(parts)[-1] == "closing"
    assert [part.data["attempt"] for part in parts if part.event == "metadata"] == [1, 2]
    assert len(model.requests) == CALLS + 1


async def test_worker_processes_share_the_work(tmp_path: Path) -> None:
    """Of two worker processes one is killed; the server goes on and loses no run."""
    (tmp_path / "offers.sql").write_text(SCRIPT)
    with serving(*SLOW) as model, serving_planweave(tmp_path, "--workers", "2", **LEASE) as server:
        thread, run = await waiting_run(server, model, tmp_path, LEASE)
        os.kill(worker_of(run, tmp_path, LEASE), signal.SIGKILL)
        try:
            parts = await followed(server, thread, run)
        except httpx.TransportError:  # the killed worker took the connection with it: ask again
            parts = await followed(server, thread, run)
        assert nodes(parts)[-1] == "closing"
        assert nodes(parts).count("selector") == 2
        assert [part.data["attempt"] for part in parts if part.event == "metadata"] == [1, 2]
        counted = 'planweave_runs_finished_total{method="planrag",status="success"} 1.0'
        await until(lambda: counted in httpx.get(f"{server.url}/metrics", timeout=60).text)
    assert len(model.requests) == CALLS + 1


async def test_a_worker_stopped_as_it_writes_keeps_nothing_late(postgresql_url: str) -> None:
    """Another worker takes the run only before or after the events are written, not meanwhile."""
    taken: list[Any] = []
    async with open_storage(postgresql_url) as storage, open_storage(postgresql_url) as another:
        runs, others = Runs(storage.database), Runs(another.database)
        order = RunOrder(method="planrag", payload={"stream_mode": []}, metadata={})
        run = await runs.create(Person("ann", UserLimits(), shared=True), None, order)
        (claim,) = await runs.claim("one", -1, 9)  # the lease has run out already

        async def take() -> None:
            taken.extend(await others.claim("two", 60, 9))

        engine = storage.database.close.__self__.sync_engine  # type: ignore[attr-defined]

        @event.listens_for(engine, "before_cursor_execute")
        def _stopped(*call: Any) -> None:
            if "INSERT INTO planweave_events" in call[2]:
                await_only(take())

        await runs.add_events("one", [WireEvent(claim.run_id, claim.first_number, "updates", "1")])
        assert taken == []
        kept, _ = await runs.events(run["run_id"], -1)
        assert [found.number for found in kept] == [claim.first_number]
        assert [found.attempt for found in await others.claim("two", 60, 9)] == [2]
        await runs.add_events("one", [WireEvent(claim.run_id, claim.first_number + 1, "late", "2")])
        assert len((await runs.events(run["run_id"], -1))[0]) == 1


async def test_a_stopped_workers_transaction_ends(postgresql_url: str) -> None:
    async with open_storage(postgresql_url) as storage:
        asked = text("SHOW idle_in_transaction_session_timeout")
        assert await storage.database.transaction(lambda c: c.execute(asked).scalar()) == "10s"
